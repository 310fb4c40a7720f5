package scenarios

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Words that stand for a named target in FaultName.Targets.
const (
	NamedNode   = "n1"
	NamedClient = "c1"
	NamedStore  = "store" // the server where the guarded resource lives
)

// Targets lists the words that a fault can be aimed at, with NamedNode and NamedClient for names.
func Targets() []string {
	return append(nodeWords(), clientWords()...)
}

func nodeWords() []string {
	return []string{NamedNode, NamedStore, "one", "minority", "majority", "all", "nodes", "leader", "primary", "replica"}
}

func clientWords() []string { return []string{NamedClient, "holder", "waiter", "clients"} }

// number returns the number of a name such as n3; 0: it isn't one.
func number(word string, letter byte) int {
	if len(word) < 2 || word[0] != letter || word[1] == '0' {
		return 0
	}
	n, err := strconv.Atoi(word[1:])
	if err != nil || n < 0 || strings.HasPrefix(word[1:], "+") {
		return 0
	}
	return n
}

// class is the word in Targets that a target falls under.
func class(word string) string {
	if number(word, 'n') > 0 {
		return NamedNode
	}
	if number(word, 'c') > 0 {
		return NamedClient
	}
	return word
}

func onClient(word string) bool { return slices.Contains(clientWords(), class(word)) }

// target checks that a kind of fault can be aimed at a word, and that this exists.
func (d *decoder) target(path, kind string, n *node, allowed []string) bool {
	switch c := class(n.text); {
	case !slices.Contains(Targets(), c):
		return d.unknownTarget(path, n, allowed)
	case !slices.Contains(allowed, c):
		d.fail(path, Problem{Code: CodeTarget, Message: fmt.Sprintf("%s can't be aimed at %s", kind, n.text), Place: labelled(n.place, "not with this kind"), All: readableTargets(allowed)})
		return false
	case onClient(n.text):
		return d.clientExists(path, n)
	case c == NamedStore:
		return d.storeExists(path, n)
	default:
		return d.nodeExists(path, n)
	}
}

func (d *decoder) unknownTarget(path string, n *node, allowed []string) bool {
	p := Problem{Code: CodeTarget, Message: fmt.Sprintf("unknown target %q", n.text), Place: labelled(n.place, "not a target"), All: readableTargets(allowed)}
	if near := nearest(n.text, slices.DeleteFunc(slices.Clone(allowed), named)); near != "" {
		p.Fix = fmt.Sprintf("did you mean %q?", near)
	}
	d.fail(path, p)
	return false
}

func named(word string) bool { return word == NamedNode || word == NamedClient }

func readableTargets(words []string) []string {
	out := slices.Clone(words)
	for i, w := range out {
		if named(w) {
			out[i] = w + " ..."
		}
	}
	return out
}

func (d *decoder) clientExists(path string, n *node) bool {
	i, count := number(n.text, 'c'), d.scenario.Clients.Count
	if i <= count || !d.sound("clients.count") {
		return true
	}
	d.missingTarget(path, n, "client", 'c', count, "clients.count")
	return false
}

func (d *decoder) nodeExists(path string, n *node) bool {
	count, known := d.nodes()
	switch {
	case !known:
		return true
	case count == 0:
		d.fail(path, Problem{Code: CodeTarget, Message: fmt.Sprintf("%s has no nodes", d.scenario.Lock.Use), Place: labelled(n.place, "nothing to aim at"), Related: d.related("lock.use", "lives in memory")})
		return false
	case number(n.text, 'n') > count:
		d.missingTarget(path, n, "node", 'n', count, "cluster.nodes")
		return false
	case count < 3 && (n.text == "minority" || n.text == "majority"):
		d.fail(path, Problem{Code: CodeTarget, Message: fmt.Sprintf("%s of %s does not exist", n.text, plural(count, "node")), Place: labelled(n.place, "needs 3 nodes"), Related: d.related("cluster.nodes", "the nodes")})
		return false
	}
	return true
}

// storeExists wants a server of its own for the resource.
func (d *decoder) storeExists(path string, n *node) bool {
	if d.scenario.Workload.Store != "harness" || !d.sound("workload.store") {
		return true
	}
	d.fail(path, Problem{
		Code: CodeTarget, Message: "store does not exist", Place: labelled(n.place, "not a server"), Related: d.related("workload.store", "the resource lives in locktest"),
		Fix: "write workload: { store: redis }, or another one",
	})
	return false
}

func (d *decoder) missingTarget(path string, n *node, what string, letter byte, count int, counted string) {
	there := fmt.Sprintf("there is 1 %s: %c1", what, letter)
	if count != 1 {
		there = fmt.Sprintf("there are %d %ss: %c1 to %c%d", count, what, letter, letter, count)
	}
	p := Problem{Code: CodeTarget, Message: fmt.Sprintf("%s %s does not exist", what, n.text), Place: labelled(n.place, "not one of them"), Related: d.related(counted, there)}
	if p.Related == nil {
		p.So = there
	}
	d.fail(path, p)
}

// nodes returns how many servers there are, if that is known without knowing more than the file says.
func (d *decoder) nodes() (count int, known bool) {
	if !d.sound("cluster.nodes", "lock.use") {
		return 0, false
	}
	l, ok := d.names.Locks[d.scenario.Lock.Use]
	if ok && l.Memory {
		return 0, true
	}
	if d.scenario.Cluster.Nodes > 0 {
		return d.scenario.Cluster.Nodes, true
	}
	return l.Nodes, ok && l.Nodes > 0
}

package scenarios

import (
	"fmt"
	"slices"
)

// Arguments lists the keys that the mapping form of a fault can have. FaultName.Args says which of them a kind takes.
func Arguments() []string {
	return append([]string{"of", "to", "direction", "mode", "restart", "delay", "jump", "rate", "freeze", "clock", "on"},
		"bandwidth", "shape", "only", "drop", "hold", "reset", "match", "nth", "by", "inject", "heal", "limit")
}

// args reads what stands behind a kind: a target, a list of them, sides, or a mapping with further keys.
func (d *decoder) args(r *reader, kind string, known FaultName) Args {
	n, path := r.values[kind], r.key(kind)
	if n.shape == null {
		d.fail(path, wrongShape("this "+kind, n, "a target"))
		return Args{}
	}
	if n.shape != mapping && known.Kinds {
		d.fail(path, wrongShape("this "+kind, n, "{ of: [pause, kill], on: clients }"))
		return Args{}
	}
	if n.shape != mapping {
		a := d.aim(path, kind, n, known)
		for _, key := range known.Required {
			if key != "of" {
				d.fail(path, Problem{Code: CodeMissing, Message: fmt.Sprintf("this %s has no %s", kind, key), Place: labelled(n.place, key+" is missing"), Fix: fmt.Sprintf("write %s: {of: %s, %s: ...}", kind, orWord(n.text, "TARGET"), key)})
			}
		}
		return d.defaults(kind, known, a)
	}
	sub := d.open(n, path, "faults[]."+kind)
	sub.strict(known.Args, func(e entry, all []string) Problem { return unknownKey(e.key, all, "a "+kind) })
	a := Args{}
	key := "of"
	if slices.Contains(known.Args, "to") {
		key = sub.oneTarget()
	}
	if of := sub.values[key]; of != nil && known.Kinds {
		a.Kinds = d.kinds(sub.key(key), kind, of)
	} else if of != nil {
		a = d.aim(sub.key(key), kind, of, known)
	}
	for _, key := range known.Required {
		if !sub.has(key) {
			d.fail(path, Problem{Code: CodeMissing, Message: fmt.Sprintf("this %s has no %s", kind, argument(key)), Place: d.at(path+keyMark, key+" is missing")})
		}
	}
	return sub.args(known, a)
}

// oneTarget is the key of the target where two words can stand for it.
func (r *reader) oneTarget() string {
	if r.values["to"] == nil {
		return "of"
	}
	if r.values["of"] != nil {
		r.d.fail(r.path, Problem{Code: CodeTwice, Message: "this has two targets: of and to", Place: r.d.at(r.key("to")+keyMark, "the same as of"), Related: r.d.related(r.key("of")+keyMark, "the first")})
	}
	return "to"
}

// kinds reads a list of kinds of fault, none of which is kind itself.
func (d *decoder) kinds(path, kind string, n *node) []string {
	if n.shape != list || len(n.items) == 0 {
		d.fail(path, wrongShape(path, n, "a list of kinds, as in [pause, kill]"))
		return nil
	}
	all := slices.DeleteFunc(keys(d.names.Faults), func(k string) bool { return k == kind })
	var out []string
	for i, item := range n.items {
		if d.choose(fmt.Sprintf("%s[%d]", path, i+1), "fault", item, all) {
			out = append(out, item.text)
		}
	}
	return out
}

// argument is the word for a key in a sentence.
func argument(key string) string {
	if key == "of" {
		return "target"
	}
	return key
}

func orWord(word, other string) string {
	if word == "" {
		return other
	}
	return word
}

// defaults fills the arguments of a short form.
func (d *decoder) defaults(kind string, known FaultName, a Args) Args {
	empty := &reader{d: d, path: "faults[]." + kind, schema: "faults[]." + kind}
	return empty.args(known, a)
}

func (r *reader) args(known FaultName, a Args) Args {
	takes := func(key string) bool { return slices.Contains(known.Args, key) }
	if takes("direction") {
		a.Direction = r.text("direction")
	}
	if takes("mode") {
		a.Mode = r.text("mode")
	}
	if takes("restart") {
		a.Restart = r.text("restart")
	}
	if takes("delay") && !takes("drop") {
		a.Latency = r.span("delay")
		r.positive("delay", a.Latency.Max)
	}
	if takes("jump") {
		a.Jump = read(r, "jump", parseSigned)
	}
	if takes("rate") {
		a.Rate = read(r, "rate", parseFactor)
	}
	if takes("freeze") {
		a.Freeze = r.flag("freeze")
	}
	if takes("clock") {
		a.Clock = r.text("clock")
	}
	if takes("on") {
		a.On = r.text("on")
	}
	if takes("bandwidth") {
		a.Bandwidth = read(r, "bandwidth", parseBandwidth)
	}
	if takes("shape") {
		a.Shape = r.text("shape")
	}
	if takes("only") {
		a.Only = r.text("only")
	}
	a.Message = r.message(takes)
	a.Exec = r.exec(takes)
	return a
}

// aim reads targets: a word, a list of names, or sides.
func (d *decoder) aim(path, kind string, n *node, known FaultName) Args {
	switch {
	case n.shape == scalar:
		d.target(path, kind, n, known.Targets)
		return Args{Of: n.text}
	case n.shape != list:
		d.fail(path, wrongShape(path, n, "a target or a list of them"))
		return Args{}
	case len(n.items) == 0:
		d.fail(path, Problem{Code: CodeTarget, Message: fmt.Sprintf("this %s is aimed at nothing", kind), Place: labelled(n.place, "an empty list")})
		return Args{}
	case known.Groups && n.items[0].shape == list:
		return Args{Groups: d.sides(path, kind, n)}
	}
	return Args{List: d.members(path, kind, n, slices.DeleteFunc(slices.Clone(known.Targets), func(w string) bool { return !named(w) && w != NamedStore }), map[string]*node{})}
}

// members reads a list of targets, none of which may stand in it twice, or in seen.
func (d *decoder) members(path, kind string, n *node, allowed []string, seen map[string]*node) []string {
	var out []string
	for i, item := range n.items {
		at := fmt.Sprintf("%s[%d]", path, i+1)
		if item.shape != scalar {
			d.fail(at, wrongShape("this target", item, "a name"))
			continue
		}
		if first := seen[item.text]; first != nil {
			p := labelled(first.place, "first here")
			d.fail(at, Problem{Code: CodeTwice, Message: item.text + " is named twice", Place: labelled(item.place, "and again"), Related: &p})
			continue
		}
		seen[item.text] = item
		if d.target(at, kind, item, allowed) {
			out = append(out, item.text)
		}
	}
	return out
}

// sides reads [[n1, n2], [n3, clients]].
func (d *decoder) sides(path, kind string, n *node) [][]string {
	if len(n.items) < 2 {
		d.fail(path, Problem{Code: CodeTarget, Message: fmt.Sprintf("a %s has two sides or more", kind), Place: labelled(n.place, "only one")})
		return nil
	}
	var out [][]string
	seen := map[string]*node{}
	for i, item := range n.items {
		at := fmt.Sprintf("%s[%d]", path, i+1)
		if item.shape != list || len(item.items) == 0 {
			d.fail(at, Problem{Code: CodeShape, Message: fmt.Sprintf("a side of a %s is a list of names", kind), Place: labelled(item.place, "such as [n1, n2]")})
			continue
		}
		out = append(out, d.members(at, kind, item, []string{NamedNode, NamedClient, NamedStore, "nodes", "clients"}, seen))
	}
	return out
}

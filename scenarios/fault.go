package scenarios

import (
	"fmt"
	"slices"
	"strings"
)

func triggers() []string { return []string{"at", "every", "on"} }

func (d *decoder) faults(n *node) []Fault {
	if n == nil {
		return nil
	}
	if n.shape != list {
		p := wrongShape("faults", n, "a list")
		if n.shape == mapping {
			p.Fix = "write a dash before each fault: faults: [{...}], or \"- \" on a line of its own"
		}
		d.fail("faults", p)
		return nil
	}
	var out []Fault
	for i, item := range n.items {
		path := faultPath(i)
		if item.shape != mapping {
			d.fail(path, wrongShape(fmt.Sprintf("fault %d", i+1), item, "a mapping"))
			out = append(out, Fault{})
			continue
		}
		out = append(out, d.fault(path, item))
	}
	return out
}

func faultPath(i int) string { return fmt.Sprintf("faults[%d]", i+1) }

func (d *decoder) fault(path string, n *node) Fault {
	r := d.open(n, path, "faults[]")
	misplaced := d.misplaced(r)
	d.faultKeys(r, misplaced)
	f := Fault{Trigger: d.trigger(r), For: r.span("for"), Pos: n.place.Pos}
	r.positive("for", f.For.Max)
	f.Kind = d.kind(r)
	if f.Kind == "" {
		return f
	}
	known := d.names.Faults[f.Kind]
	if len(misplaced) > 0 {
		return f
	}
	f.Args = d.args(r, f.Kind, known)
	d.lasting(r, f.Kind, known)
	d.faultFits(r, f, known)
	return f
}

// faultKeys reports unknown keys. Where an entry has no kind, an unknown key is an unknown fault.
func (d *decoder) faultKeys(r *reader, told []string) {
	own, kinds := d.keysOf("faults[]"), keys(d.names.Faults)
	hasKind := slices.ContainsFunc(kinds, func(k string) bool { return r.values[k] != nil })
	r.strict(slices.Concat(own, kinds, told), func(e entry, known []string) Problem {
		if hasKind || slices.Contains(own, nearest(e.key.text, known)) {
			return unknownKey(e.key, known, "a fault")
		}
		d.spoil(r.path + ".kind")
		p := unknownKey(e.key, kinds, "a fault")
		p.Code, p.Message, p.Place.Label = CodeUnknownName, fmt.Sprintf("unknown fault %q", e.key.text), "not a fault"
		return p
	})
}

// exactlyOne finds the one key of several; "" if the mapping has none or more.
func (d *decoder) exactlyOne(r *reader, what string, choices []string) string {
	var found []string
	for _, c := range choices {
		if r.has(c) {
			found = append(found, c)
		}
	}
	if len(found) == 1 && r.values[found[0]] != nil {
		return found[0]
	}
	if len(found) > 1 {
		slices.SortFunc(found, func(a, b string) int { return d.before(r, a, b) })
		first := d.related(r.key(found[0])+keyMark, "the first")
		d.fail(r.key(what), Problem{Code: CodeFault, Message: fmt.Sprintf("this fault has %d %ss: %s", len(found), what, strings.Join(found, ", ")), Place: d.at(r.key(found[1])+keyMark, "one too many"), Related: first})
	}
	if len(found) == 0 && d.sound(r.key(what)) {
		d.fail(r.key(what), Problem{Code: CodeFault, Message: "this fault has no " + what, Place: d.at(r.path, "in this entry"), So: "exactly one " + what + " is needed", All: choices})
	}
	return ""
}

func (d *decoder) before(r *reader, a, b string) int {
	p, q := d.places[r.key(a)+keyMark], d.places[r.key(b)+keyMark]
	if p.Line != q.Line {
		return p.Line - q.Line
	}
	return p.Column - q.Column
}

func (d *decoder) trigger(r *reader) Trigger {
	t := Trigger{}
	key := d.exactlyOne(r, "trigger", triggers())
	switch key {
	case "at":
		at := r.span("at")
		t.At = &at
	case "every":
		every := r.span("every")
		t.Every = &every
		r.positive("every", every.Min)
		t.From, t.Until = r.duration("from"), r.duration("until")
		r.positive("until", t.Until)
	case "on":
		t.On = r.text("on")
		t.After, t.Chance = r.span("after"), r.percent("chance")
	default:
		return t
	}
	t.Limit = r.count("limit")
	d.triggerKeys(r, key)
	return t
}

// triggerKeys refuses keys that belong to another trigger.
func (d *decoder) triggerKeys(r *reader, trigger string) {
	for _, c := range []struct {
		key  string
		with []string
	}{{"from", []string{"every"}}, {"until", []string{"every"}}, {"after", []string{"on"}}, {"chance", []string{"on"}}, {"limit", []string{"every", "on"}}} {
		if r.values[c.key] != nil && !slices.Contains(c.with, trigger) {
			d.fail(r.key(c.key), Problem{Code: CodeMeaningless, Message: fmt.Sprintf("%s means nothing with %s", c.key, trigger), Place: d.at(r.key(c.key)+keyMark, "goes with "+strings.Join(c.with, " and ")), Related: d.related(r.key(trigger)+keyMark, "the trigger")})
			r.parse(c.key)
		}
	}
}

// parse looks for mistakes in a value that is not used where it stands.
func (r *reader) parse(key string) {
	switch r.field(key).Syntax {
	case Percent:
		r.percent(key)
	case Span:
		r.span(key)
	case Duration:
		r.duration(key)
	case Count:
		r.count(key)
	}
}

func (d *decoder) kind(r *reader) string {
	return d.exactlyOne(r, "kind", keys(d.names.Faults))
}

// lasting compares for with what the kind takes.
func (d *decoder) lasting(r *reader, kind string, known FaultName) {
	if known.NeedsFor && !r.has("for") {
		d.fail(r.key("for"), Problem{Code: CodeMissing, Message: fmt.Sprintf("this %s has no end", kind), Place: d.at(r.key(kind)+keyMark, "for how long?"), Fix: "add for: DURATION"})
	}
	if !known.NeedsFor && !known.TakesFor && r.values["for"] != nil {
		d.fail(r.key("for"), Problem{Code: CodeMeaningless, Message: fmt.Sprintf("for means nothing with %s", kind), Place: d.at(r.key("for")+keyMark, kind+" takes no time")})
	}
}

// faultFits compares a fault with the lock and the clients that it is aimed at.
func (d *decoder) faultFits(r *reader, f Fault, known FaultName) {
	lock := d.names.Locks[d.scenario.Lock.Use]
	if lock.Memory && known.Network && d.sound("lock.use") {
		d.fail(r.key(f.Kind), Problem{Code: CodeLock, Message: fmt.Sprintf("%s has no links for a %s", d.scenario.Lock.Use, f.Kind), Place: d.at(r.key(f.Kind)+keyMark, "needs servers"), Related: d.related("lock.use", "lives in memory")})
		return
	}
	shared := d.scenario.Clients.Process == "shared"
	if shared && known.StopsTime && f.Args.Only == "" && lock.KeptAlive && f.Args.hitsClients() {
		d.fail(r.key(f.Kind), Problem{
			Code: CodeShared, Message: fmt.Sprintf("a %s doesn't stop what keeps sessions of %s alive in a process that all share", f.Kind, d.scenario.Lock.Use),
			Place:   d.at(r.key(f.Kind)+keyMark, "needs clients with a process each"),
			Related: d.related("clients.process", "one process for all"), Fix: "write process: separate",
		})
		return
	}
	if !shared || !known.Process || known.Shared || !f.Args.hitsClients() {
		return
	}
	d.fail(r.key(f.Kind), Problem{
		Code: CodeShared, Message: fmt.Sprintf("%s can't harm one client of a process that all share", f.Kind),
		Place:   d.at(r.key(f.Kind)+keyMark, "needs clients with a process each"),
		Related: d.related("clients.process", "one process for all"), Fix: "write process: separate",
	})
}

func (a Args) hitsClients() bool {
	return onClient(a.Of) || slices.ContainsFunc(a.List, onClient)
}

package scenarios

import "time"

// Exec is the commands of a fault, each a program and its arguments.
type Exec struct {
	Inject, Heal []string
	Limit        time.Duration
}

// execFields are the keys of an exec fault beyond its target.
func execFields() []Field {
	return []Field{
		{Path: "faults[].exec.inject", Syntax: Texts, About: "the command that brings the fault about, and ends"},
		{Path: "faults[].exec.heal", Syntax: Texts, About: "the command that ends the fault; it runs also where the first failed, or the run was interrupted"},
		{Path: "faults[].exec.limit", Syntax: Duration, Default: "30s", About: "how long each may take before it is killed"},
	}
}

func (r *reader) exec(takes func(string) bool) Exec {
	if !takes("inject") {
		return Exec{}
	}
	e := Exec{Inject: r.texts("inject"), Heal: r.texts("heal"), Limit: r.duration("limit")}
	r.positive("limit", e.Limit)
	return e
}

func (w *writer) exec(e Exec) {
	w.list(3, "inject", e.Inject)
	w.list(3, "heal", e.Heal)
	w.duration(3, "limit", e.Limit)
}

package scenarios

import (
	"fmt"
	"slices"
	"strings"
)

// expect reads what is expected. Properties with a bound that has a default are always in the result.
func (d *decoder) expect(n *node) map[string]Expectation {
	r := d.open(n, "expect", "expect")
	known := d.propertyNames()
	r.strict(known, func(e entry, all []string) Problem {
		p := unknownKey(e.key, keys(d.names.Properties), "expect")
		p.Code, p.Message, p.Place.Label = CodeUnknownName, fmt.Sprintf("unknown property %q", e.key.text), "not a property"
		if near := nearest(e.key.text, all); near != "" {
			p.Fix = fmt.Sprintf("did you mean %q?", near)
		}
		return p
	})
	out := map[string]Expectation{}
	for _, name := range known {
		if r.values[name] != nil {
			out[name] = d.expectation(r, name)
		} else if d.property(name).bounded() {
			out[name] = d.bounds(d.slot(nil, "expect."+name, "expect."+anyKind), name, Expectation{Verdict: "held"})
		}
	}
	return out
}

// propertyNames lists property ids and property/kind.
func (d *decoder) propertyNames() []string {
	var out []string
	for _, name := range keys(d.names.Properties) {
		out = append(out, name)
		for _, kind := range d.names.Properties[name].Kinds {
			out = append(out, name+"/"+kind)
		}
	}
	return out
}

func (d *decoder) property(name string) PropertyName {
	id, _, _ := strings.Cut(name, "/")
	return d.names.Properties[id]
}

func (p PropertyName) takes(bound string) bool { return slices.Contains(p.Bounds, bound) }

// bounded says whether a bound of the property has a default.
func (p PropertyName) bounded() bool { return p.takes("recover-within") }

// expectation reads "held", or a mapping.
func (d *decoder) expectation(parent *reader, name string) Expectation {
	n, path := parent.values[name], parent.key(name)
	e := Expectation{Verdict: "held", Pos: n.place.Pos}
	if n.shape != mapping {
		if n.shape != scalar {
			d.fail(path, wrongShape(path, n, "held, violated or any"))
			return e
		}
		if d.choose(path, "verdict", n, verdicts()) {
			e.Verdict = n.text
			d.because(path, n, e)
		}
		return d.bounds(d.slot(nil, path, "expect."+anyKind), name, e)
	}
	r := d.open(n, path, "expect."+anyKind)
	r.strict(slices.Concat([]string{"verdict", "because"}, d.property(name).Bounds), func(k entry, all []string) Problem {
		return unknownKey(k.key, all, "the expectation of "+name)
	})
	e.Verdict, e.Because = r.text("verdict"), r.text("because")
	if d.sound(path+".verdict", path+".because") {
		d.because(path, n, e)
	}
	return d.bounds(r, name, e)
}

func (d *decoder) because(path string, n *node, e Expectation) {
	if e.Verdict == "violated" && strings.TrimSpace(e.Because) == "" {
		place := d.at(path+".verdict", "why?")
		d.fail(path, Problem{Code: CodeBecause, Message: "a violation is expected, but not why", Place: place, Fix: `write {verdict: violated, because: "..."}`})
	}
}

func (d *decoder) bounds(r *reader, name string, e Expectation) Expectation {
	p := d.property(name)
	if p.takes("recover-within") && d.sound("lock.ttl") {
		e.RecoverWithin = r.duration("recover-within")
		r.positive("recover-within", e.RecoverWithin)
	}
	if p.takes("min") {
		e.Min, e.HasMin = r.percent("min"), r.values["min"] != nil
	}
	if p.takes("during") {
		e.During = r.text("during")
	}
	return e
}

func (d *decoder) thresholds(n *node) []Threshold {
	r := d.open(n, "thresholds", "thresholds")
	r.strict(keys(d.names.Metrics), func(e entry, all []string) Problem {
		p := unknownKey(e.key, all, "thresholds")
		p.Code, p.Message, p.Place.Label = CodeUnknownName, fmt.Sprintf("unknown metric %q", e.key.text), "not a metric"
		if len(all) == 0 {
			p.So = "this version of locktest has none"
		}
		return p
	})
	var out []Threshold
	for _, name := range keys(d.names.Metrics) {
		if v := r.values[name]; v != nil {
			out = append(out, d.threshold(r, name, v))
		}
	}
	return out
}

func (d *decoder) threshold(parent *reader, name string, n *node) Threshold {
	bound := d.names.Metrics[name].bound()
	r := d.open(n, parent.key(name), "thresholds."+anyKind)
	r.strict([]string{bound, "during"}, func(e entry, all []string) Problem {
		return unknownKey(e.key, all, "the threshold of "+name)
	})
	if n.shape == scalar {
		d.problems[len(d.problems)-1].Fix = mapped(`"`+name+`"`, bound, n)
	}
	t := Threshold{Metric: name, During: r.text("during"), Pos: n.place.Pos}
	if n.shape == mapping && !r.has(bound) {
		d.fail(r.path, Problem{Code: CodeMissing, Message: fmt.Sprintf("the threshold of %s has no %s", name, bound), Place: labelled(n.place, bound+" is missing")})
	}
	switch {
	case bound == "max":
		t.Max = r.duration("max")
		r.positive("max", t.Max)
	case d.names.Metrics[name].Rate:
		t.Rate, t.Min = true, read(r, "min", parseRate)
	default:
		t.Min = r.percent("min")
	}
	return t
}

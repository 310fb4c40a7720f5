package scenarios

import (
	"fmt"
	"slices"
	"strings"
)

// decoder walks the tree of one file and collects what is wrong with it. It goes on after each mistake; what depends on
// a value that is wrong is not judged, so that one mistake is told once.
type decoder struct {
	names    Names
	fields   map[string]Field
	places   map[string]Place // of the values that the file has, by path
	bad      map[string]bool  // paths of values that are wrong, and of everything around them
	problems Problems
	scenario Scenario
}

func newDecoder(names Names) *decoder {
	d := &decoder{names: names, fields: map[string]Field{}, places: map[string]Place{}, bad: map[string]bool{}}
	for _, f := range Fields() {
		d.fields[f.Path] = f
	}
	return d
}

func (d *decoder) report(p Problem) { d.problems = append(d.problems, p) }

// fail reports an error in the value at path.
func (d *decoder) fail(path string, p Problem) {
	d.spoil(path)
	d.report(p)
}

// spoil marks the value at path, and those that it belongs to, as wrong.
func (d *decoder) spoil(path string) {
	for {
		d.bad[path] = true
		i := strings.LastIndexAny(path, ".[")
		if i < 0 {
			return
		}
		path = path[:i]
	}
}

// sound says whether all of these values may be judged.
func (d *decoder) sound(paths ...string) bool {
	return !slices.ContainsFunc(paths, func(p string) bool { return d.bad[p] })
}

// related is the place of a value that another one contradicts; nil if the file doesn't have it.
func (d *decoder) related(path, label string) *Place {
	p, ok := d.places[path]
	if !ok {
		return nil
	}
	p.Label = label
	return &p
}

// at is the place of the value at path, else that of the nearest one around it.
func (d *decoder) at(path, label string) Place {
	for {
		if p, ok := d.places[path]; ok {
			p.Label = label
			return p
		}
		i := strings.LastIndexAny(path, ".[")
		if i < 0 {
			break
		}
		path = path[:i]
	}
	p := d.places[""]
	p.Label = label
	return p
}

// choose reports a name that isn't one of those known.
func (d *decoder) choose(path, what string, n *node, known []string) bool {
	if slices.Contains(known, n.text) {
		return true
	}
	p := Problem{Code: CodeUnknownName, Message: fmt.Sprintf("unknown %s %q", what, n.text), Place: labelled(n.place, "not one of them"), All: known}
	if near := nearest(n.text, known); near != "" {
		p.Fix = fmt.Sprintf("did you mean %q?", near)
	}
	if len(known) == 0 {
		p.Place.Label, p.So = "not available", "this version of locktest has none"
	}
	d.fail(path, p)
	return false
}

func labelled(p Place, label string) Place {
	p.Label = label
	return p
}

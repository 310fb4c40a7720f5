package scenarios

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// reader reads the keys of one mapping. A key that is absent has its default.
type reader struct {
	d      *decoder
	path   string // faults[2]
	schema string // faults[]
	values map[string]*node
	meant  map[string]bool // known keys that an unknown one was probably meant for
}

// slot opens the mapping at path. Keys beyond those of the table are given as extra.
func (d *decoder) slot(n *node, path, schema string, extra ...string) *reader {
	r := d.open(n, path, schema)
	r.strict(slices.Concat(d.keysOf(schema), extra), func(e entry, known []string) Problem {
		p := unknownKey(e.key, known, describe(path))
		if section := r.under(e.key.text, func(section string) []string { return d.keysOf(prefix(schema) + section) }); section != "" {
			p.Fix = fmt.Sprintf("indent it under %s:", section)
		}
		return p
	})
	return r
}

// open is slot without a look at unknown keys.
func (d *decoder) open(n *node, path, schema string) *reader {
	r := &reader{d: d, path: path, schema: schema, values: map[string]*node{}, meant: map[string]bool{}}
	if n == nil {
		return r
	}
	if _, ok := d.places[path]; !ok {
		d.places[path] = n.place
	}
	if n.shape != mapping {
		p := wrongShape(describe(path), n, "a mapping")
		p.Place.Label = "keys with values are expected"
		p.Fix = mapped(path, mainKey(schema), n)
		d.fail(path, p)
		return r
	}
	for _, e := range n.entries {
		r.add(e)
	}
	return r
}

func (r *reader) add(e entry) {
	first, twice := r.values[e.key.text]
	if !twice {
		r.values[e.key.text] = e.value
		r.d.places[r.key(e.key.text)] = e.value.place
		r.d.places[r.key(e.key.text)+keyMark] = e.key.place
		return
	}
	p := labelled(first.place, "first given here")
	r.d.report(Problem{Code: CodeTwice, Message: fmt.Sprintf("%q is given twice", e.key.text), Place: labelled(e.key.place, "and again"), Related: &p})
}

// keyMark makes the path of a key out of the path of its value.
const keyMark = "\x00key"

// strict reports every key that isn't known, in the words of tell.
func (r *reader) strict(known []string, tell func(entry, []string) Problem) {
	for _, key := range keys(r.values) {
		if slices.Contains(known, key) {
			continue
		}
		near := nearest(key, r.absent(known))
		if near != "" {
			r.meant[near] = true
			r.d.spoil(r.key(near))
		}
		e := entry{key: &node{text: key, place: r.d.places[r.key(key)+keyMark]}, value: r.values[key]}
		r.d.report(tell(e, known))
	}
}

func (r *reader) absent(known []string) []string {
	return slices.DeleteFunc(slices.Clone(known), func(k string) bool { return r.values[k] != nil })
}

func unknownKey(key *node, known []string, where string) Problem {
	p := Problem{Code: CodeUnknownKey, Message: fmt.Sprintf("unknown key %q in %s", key.text, where), Place: labelled(key.place, "not a key of it"), All: known}
	if near := nearest(key.text, known); near != "" {
		p.Fix = fmt.Sprintf("did you mean %q?", near)
	}
	return p
}

func describe(path string) string {
	if path == "" {
		return "the file"
	}
	return path
}

// keysOf lists the keys of the table directly below schema.
func (d *decoder) keysOf(schema string) []string {
	var out []string
	for _, f := range Fields() {
		rest, ok := strings.CutPrefix(f.Path, prefix(schema))
		if ok && !strings.ContainsAny(rest, ".*[") {
			out = append(out, rest)
		}
	}
	return out
}

func prefix(path string) string {
	if path == "" {
		return ""
	}
	return path + "."
}

func (r *reader) key(key string) string { return prefix(r.path) + key }

func (r *reader) has(key string) bool { return r.values[key] != nil || r.meant[key] }

// field is the table's entry for a key; reading one that isn't in the table is our own mistake.
func (r *reader) field(key string) Field {
	f, ok := r.d.fields[prefix(r.schema)+key]
	if !ok && strings.HasPrefix(r.schema, "faults[].") { // not of this kind alone
		f, ok = r.d.fields["faults[]."+anyKind+"."+key]
	}
	if !ok {
		panic("scenarios: no field " + prefix(r.schema) + key)
	}
	return f
}

// scalar returns the text of a key, or of its default. ok is false where there is nothing to read.
func (r *reader) scalar(key string) (text string, n *node, ok bool) {
	f := r.field(key)
	n = r.values[key]
	if n == nil {
		if f.Required && !r.meant[key] {
			r.missing(key)
		}
		return f.Default, nil, f.Default != ""
	}
	if n.shape != scalar {
		r.d.fail(r.key(key), wrongShape(r.key(key), n, f.Syntax.article()))
		return "", n, false
	}
	return n.text, n, true
}

func (r *reader) missing(key string) {
	f := r.field(key)
	r.d.fail(r.key(key), Problem{
		Code: CodeMissing, Message: fmt.Sprintf("%s has no %s", describe(r.path), key),
		Place: r.d.at(r.path, key+" is missing"), Fix: fmt.Sprintf("add %s: (%s)", key, f.About),
	})
}

func wrongShape(path string, n *node, want string) Problem {
	if n.shape == null {
		return Problem{Code: CodeShape, Message: path + " has no value", Place: labelled(n.place, want+" is expected")}
	}
	return Problem{Code: CodeShape, Message: fmt.Sprintf("%s is %s, not %s", path, n.shape, want), Place: labelled(n.place, want+" is expected")}
}

// wrong reports what is wrong with the value of a key.
func (r *reader) wrong(key string, n *node, m *mistake) {
	r.d.fail(r.key(key), Problem{Code: m.code, Message: m.message, Place: labelled(n.place, m.label), Fix: m.fix})
}

func read[T any](r *reader, key string, parse func(string) (T, *mistake)) (out T) {
	text, n, ok := r.scalar(key)
	if !ok {
		return out
	}
	v, m := parse(text)
	if m == nil {
		return v
	}
	if n == nil {
		panic(fmt.Sprintf("scenarios: default of %s: %s", r.key(key), m.message))
	}
	r.wrong(key, n, m)
	return out
}

// duration reads one; a default such as "lock.ttl + 2s" counts from the lease.
func (r *reader) duration(key string) time.Duration {
	return read(r, key, func(text string) (time.Duration, *mistake) {
		if rest, ok := strings.CutPrefix(text, "lock.ttl + "); ok {
			d, m := parseDuration(rest)
			return d + r.d.scenario.Lock.TTL, m
		}
		if text == "run.warmup" {
			return r.d.scenario.Run.Warmup, nil
		}
		return parseDuration(text)
	})
}

// positive refuses a zero that was written; where nothing is written, zero says so.
func (r *reader) positive(key string, most time.Duration) {
	if r.values[key] != nil && most == 0 && r.d.sound(r.key(key)) {
		r.d.fail(r.key(key), Problem{Code: CodeDuration, Message: fmt.Sprintf("%s can't be zero", key), Place: r.d.at(r.key(key), "zero")})
	}
}

func (r *reader) span(key string) Range      { return read(r, key, parseSpan) }
func (r *reader) percent(key string) float64 { return read(r, key, parsePercent) }
func (r *reader) number(key string) uint64   { return read(r, key, parseNumber) }
func (r *reader) flag(key string) bool       { return read(r, key, parseFlag) }

func (r *reader) count(key string) int {
	f := r.field(key)
	return read(r, key, func(text string) (int, *mistake) { return parseCount(text, f.Min, f.Max) })
}

// text reads a word, which is one of the table's where that lists any.
func (r *reader) text(key string) string {
	text, n, ok := r.scalar(key)
	if !ok {
		return ""
	}
	if f := r.field(key); n != nil && f.Values != nil && !r.d.choose(r.key(key), key, n, f.Values) {
		return ""
	}
	return text
}

// name reads a word that is one of those that the catalogue knows.
func (r *reader) name(key, what string, known []string) string {
	text, n, ok := r.scalar(key)
	if !ok || n != nil && !r.d.choose(r.key(key), what, n, known) {
		return ""
	}
	return text
}

// texts reads a list of words.
func (r *reader) texts(key string) []string {
	n := r.values[key]
	r.field(key)
	if n == nil {
		return nil
	}
	if n.shape != list {
		r.d.fail(r.key(key), wrongShape(r.key(key), n, "a list"))
		return nil
	}
	var out []string
	for i, item := range n.items {
		if item.shape != scalar {
			path := fmt.Sprintf("%s[%d]", r.key(key), i+1)
			r.d.fail(path, wrongShape(path, item, "text"))
			continue
		}
		out = append(out, item.text)
	}
	return out
}

// options reads a mapping of words against what is known of each.
func (r *reader) options(key string, known map[string]OptionName) map[string]string {
	n := r.values[key]
	if n == nil {
		return nil
	}
	sub := r.d.open(n, r.key(key), prefix(r.schema)+key)
	sub.strict(keys(known), func(e entry, all []string) Problem {
		p := unknownKey(e.key, all, r.key(key))
		if len(all) == 0 {
			p.So = "there are no options here"
		}
		return p
	})
	return sub.known(known)
}

// known reads those keys of a mapping that are options.
func (r *reader) known(options map[string]OptionName) map[string]string {
	var out map[string]string
	for _, name := range keys(options) {
		n := r.values[name]
		if n == nil {
			continue
		}
		if n.shape != scalar {
			r.d.fail(r.key(name), wrongShape(r.key(name), n, "text"))
			continue
		}
		if values := options[name].Values; values != nil && !r.d.choose(r.key(name), name, n, values) {
			continue
		}
		if out == nil {
			out = map[string]string{}
		}
		out[name] = n.text
	}
	return out
}

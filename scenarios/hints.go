package scenarios

import (
	"fmt"
	"slices"
	"strings"
)

// mainKey is the key that people mean who write a single value where a mapping is expected.
func mainKey(schema string) string {
	switch schema {
	case "lock", "workload":
		return "use"
	case "cluster":
		return "kind"
	case "clients":
		return "count"
	case "run":
		return "duration"
	case "evidence":
		return "min-acquires"
	}
	return ""
}

// mapped is how a single value would be written as a mapping; empty: there is nothing to guess from.
func mapped(path, key string, n *node) string {
	if n.shape != scalar || key == "" {
		return ""
	}
	return fmt.Sprintf("write %s: {%s: %s}", path[strings.LastIndex(path, "]")+1:], key, n.text)
}

// under finds the key without a value that another one, beside it, was probably meant to stand under.
func (r *reader) under(key string, keysOf func(section string) []string) string {
	for _, section := range keys(r.values) {
		if n := r.values[section]; n.shape == null && slices.Contains(keysOf(section), key) {
			return section
		}
	}
	return ""
}

// misplaced reports arguments of a kind that stand beside it instead of in its mapping, and returns their keys.
func (d *decoder) misplaced(r *reader) (found []string) {
	for _, kind := range keys(d.names.Faults) {
		value := r.values[kind]
		if value == nil || value.shape == mapping {
			continue
		}
		for _, key := range d.names.Faults[kind].Args {
			if _, also := d.names.Faults[key]; also || r.values[key] == nil || slices.Contains(d.keysOf("faults[]"), key) {
				continue
			}
			p := Problem{Code: CodeUnknownKey, Message: fmt.Sprintf("%s stands beside %s, not under it", key, kind), Place: d.at(r.key(key)+keyMark, "belongs to "+kind), Related: d.related(r.key(kind)+keyMark, "the kind")}
			if value.shape == null && key != "of" {
				p.Fix = fmt.Sprintf("indent it under %s:, or write %s: {of: TARGET, %s: %s}", kind, kind, key, written(r.values[key]))
			} else if value.shape == null {
				p.Fix = fmt.Sprintf("indent it under %s:, or write %s: {%s: %s}", kind, kind, key, written(r.values[key]))
			} else {
				p.Fix = fmt.Sprintf("write %s: {of: %s, %s: %s}", kind, written(value), key, written(r.values[key]))
			}
			d.fail(r.path, p)
			d.spoil(r.key(kind))
			found = append(found, key)
		}
	}
	return found
}

// written is a value as it could be written on one line.
func written(n *node) string {
	switch n.shape {
	case scalar:
		return n.text
	case list:
		parts := make([]string, len(n.items))
		for i, item := range n.items {
			parts[i] = written(item)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return "..."
}

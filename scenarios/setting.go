package scenarios

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Setting replaces or adds one value of a file: a flag of the command line.
type Setting struct {
	Flag  string // --set, --lock; only told
	Key   string // workload.resource; faults[1].for, counted from 1
	Value string // as it would be written in the file
}

// ParseSetting splits KEY=VALUE.
func ParseSetting(flag, text string) (Setting, error) {
	key, value, ok := strings.Cut(text, "=")
	if !ok || strings.TrimSpace(key) == "" {
		return Setting{}, fmt.Errorf("%s %q: expected KEY=VALUE, as in workload.resource=checks-token", flag, text)
	}
	return Setting{Flag: flag, Key: strings.TrimSpace(key), Value: value}, nil
}

// set changes the tree. What it adds is judged with the rest of the file; the problem says why it can't be added.
func (n *node) set(s Setting) *Problem {
	text := s.Key + "=" + s.Value
	src := newSource(s.Flag, []byte(text))
	shift := utf8.RuneCountInString(s.Key) + 1
	value, problem := parse(src, []byte(strings.Repeat(" ", shift)+s.Value))
	if problem != nil {
		problem.Place = src.place(1, problem.Place.Column, problem.Place.Len)
		return problem
	}
	if value.shape == null {
		value.place = src.place(1, shift+1, 1)
	}
	return n.put(splitKey(s.Key), value, src, 0)
}

// splitKey splits faults[1].for into faults, [1], for. The columns of the parts add up.
func splitKey(key string) []string {
	return strings.Split(strings.ReplaceAll(key, "[", ".["), ".")
}

func (n *node) put(parts []string, value *node, src *source, column int) *Problem {
	part := parts[0]
	place := src.place(1, column+1, utf8.RuneCountInString(part))
	last := len(parts) == 1
	if index, ok := strings.CutPrefix(part, "["); ok {
		return n.putItem(strings.TrimSuffix(index, "]"), parts, value, src, column)
	}
	if n.shape != mapping {
		place.Label = "not a mapping"
		return &Problem{Code: CodeShape, Message: fmt.Sprintf("%q can't be set inside of %s", part, n.shape), Place: place}
	}
	sub := n.get(part)
	switch {
	case last && sub != nil:
		*sub = *value
		return nil
	case last:
		n.entries = append(n.entries, entry{&node{shape: scalar, text: part, place: place}, value})
		return nil
	case sub == nil && strings.HasPrefix(parts[1], "["):
		place.Label = "there is no such list"
		return &Problem{Code: CodeMissing, Message: fmt.Sprintf("%s can't be set, the file has no %s", strings.Join(parts, "."), part), Place: place}
	case sub == nil:
		sub = &node{shape: mapping, place: place}
		n.entries = append(n.entries, entry{&node{shape: scalar, text: part, place: place}, sub})
	}
	return sub.put(parts[1:], value, src, column+utf8.RuneCountInString(part)+separator(parts[1]))
}

// separator is how many characters stand between a part and the next.
func separator(next string) int {
	if strings.HasPrefix(next, "[") {
		return 0
	}
	return 1
}

func (n *node) putItem(index string, parts []string, value *node, src *source, column int) *Problem {
	place := src.place(1, column+1, utf8.RuneCountInString(parts[0]))
	i, err := strconv.Atoi(index)
	if n.shape != list || err != nil || i < 1 || i > len(n.items) {
		place.Label = "no such item"
		p := &Problem{Code: CodeNumber, Message: "there is no item " + index, Place: place}
		if n.shape == list {
			p.So = fmt.Sprintf("the file has %s, counted from 1", plural(len(n.items), "item"))
		}
		return p
	}
	if len(parts) == 1 {
		*n.items[i-1] = *value
		return nil
	}
	return n.items[i-1].put(parts[1:], value, src, column+utf8.RuneCountInString(parts[0])+separator(parts[1]))
}

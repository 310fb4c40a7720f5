package history

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// unknownField is the error about a field that nothing has, with the name that may have been meant.
func unknownField(name string, known []string) error {
	if best := nearest(name, known); best != "" {
		return fmt.Errorf("%w: unknown field %q: did you mean %q?", ErrFormat, name, best)
	}
	return fmt.Errorf("%w: unknown field %q", ErrFormat, name)
}

// fieldNames returns the JSON names of all fields of t and of what it holds, each once.
func fieldNames(t reflect.Type) []string {
	var out []string
	switch t.Kind() {
	case reflect.Slice, reflect.Pointer:
		return fieldNames(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
			if name != "" {
				out = append(out, name)
				out = append(out, fieldNames(t.Field(i).Type)...)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// nearest returns the name that differs least from word, in no more than a third of its letters; else "".
func nearest(word string, names []string) string {
	best, least := "", max(1, len(word)/3)+1
	for _, name := range names {
		if d := distance(strings.ToLower(word), name); d < least {
			best, least = name, d
		}
	}
	return best
}

// distance counts insertions, deletions and substitutions: the distance of Levenshtein, by the table of Wagner and
// Fischer (Journal of the ACM, 1974). Of a word too long to be a name it is the word's length.
func distance(a, b string) int {
	if len(a) > 64 {
		return len(a)
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			d := before
			if a[i] != b[j] {
				d++
			}
			before = row[j+1]
			row[j+1] = min(d, row[j]+1, before+1)
		}
	}
	return row[len(b)]
}

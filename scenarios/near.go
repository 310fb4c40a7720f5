package scenarios

import (
	"slices"
	"strings"
)

// Nearest returns the candidate that a misspelt word was meant to be; "" where none is near enough.
func Nearest(word string, candidates []string) string { return nearest(word, candidates) }

// nearest returns the candidate that differs least from word, if it differs little enough to be meant; else "".
func nearest(word string, candidates []string) string {
	best, least := "", max(1, len(word)/3)+1
	for _, c := range slices.Sorted(slices.Values(candidates)) {
		d := distance(strings.ToLower(word), strings.ToLower(c))
		if d < least && d < max(len(c), 2) {
			best, least = c, d
		}
	}
	return best
}

// distance counts insertions, deletions, substitutions and swaps of neighbours: the optimal string alignment distance
// (Damerau 1964, in the form of Wagner and Fischer's table).
func distance(a, b string) int {
	s, t := []rune(a), []rune(b)
	if len(s) > 64 {
		return len(s)
	}
	before, above, row := make([]int, len(t)+1), make([]int, len(t)+1), make([]int, len(t)+1)
	for j := range above {
		above[j] = j
	}
	for i := 1; i <= len(s); i++ {
		row[0] = i
		for j := 1; j <= len(t); j++ {
			cost := 1
			if s[i-1] == t[j-1] {
				cost = 0
			}
			row[j] = min(above[j]+1, row[j-1]+1, above[j-1]+cost)
			if i > 1 && j > 1 && s[i-1] == t[j-2] && s[i-2] == t[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, above, row = above, row, before
	}
	return above[len(t)]
}

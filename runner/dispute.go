package runner

import (
	"strings"

	"github.com/locktest/locktest/checker"
)

// Disputed names what the two engines disagree about; empty: nothing.
func Disputed(list []checker.Agreement) string {
	var names []string
	for _, a := range list {
		if a.Disagrees() {
			names = append(names, a.Lock+" ("+a.Model+")")
		}
	}
	return strings.Join(names, ", ")
}

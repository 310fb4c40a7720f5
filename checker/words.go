package checker

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// seconds writes a time of a run as reports do: seconds with three decimals, and more only where it has to be told
// from another.
func seconds(d time.Duration) string {
	if d == forever {
		return "the end"
	}
	s := fmt.Sprintf("%.3f s", d.Seconds())
	if d != 0 && d.Abs() < time.Millisecond {
		return d.String()
	}
	return s
}

// count writes a number with its noun: "1 hold", "7 911 holds".
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return grouped(n) + " " + plural(noun)
}

func plural(noun string) string {
	if noun == "hold or attempt" {
		return "holds or attempts"
	}
	if strings.HasSuffix(noun, "y") {
		return strings.TrimSuffix(noun, "y") + "ies"
	}
	return noun + "s"
}

// grouped writes an integer with a space between thousands.
func grouped(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + " " + s[i:]
	}
	return s
}

// token writes a grant's token in brackets, or nothing.
func tokenWords(token uint64) string {
	if token == 0 {
		return ""
	}
	return fmt.Sprintf(" (token %d)", token)
}

func percent(part, all int) float64 {
	if all == 0 {
		return 0
	}
	return 100 * float64(part) / float64(all)
}

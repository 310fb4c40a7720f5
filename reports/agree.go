package reports

import (
	"fmt"
	"maps"
	"slices"

	"github.com/locktest/locktest/checker"
)

// disagreements says in sentences where the second engine has another verdict than the first.
func disagreements(list []checker.Agreement) []string {
	var out []string
	for _, a := range list {
		if a.Disagrees() {
			out = append(out, fmt.Sprintf("%s disagrees about %s (%s): it says %s, the sweep says %s. One of them is wrong, and that is a bug of locktest.", capital(a.Engine), clean(a.Lock), a.Model, a.Answer, a.Sweep))
		}
	}
	return out
}

// agreement says in sentences what the second engine made of each other lock: how often it agrees, and where it has no verdict
// and why. A brief one leaves out that it agrees.
func agreement(list []checker.Agreement, brief bool) []string {
	var out, engines []string
	agrees := 0
	without := map[string]int{}
	for _, a := range list {
		if !slices.Contains(engines, a.Engine) {
			engines = append(engines, a.Engine)
		}
		switch {
		case a.Disagrees():
		case a.Answer == "":
			without[clean(a.Because)]++
		default:
			agrees++
		}
	}
	for _, why := range slices.Sorted(maps.Keys(without)) {
		out = append(out, fmt.Sprintf("No verdict of %s on %s, because %s", joined(engines), count(without[why], "check"), sentence(why)))
	}
	if agrees > 0 && !brief {
		out = append(out, fmt.Sprintf("%s, a second engine, came to the same verdict in %s.", capital(joined(engines)), count(agrees, "check")))
	}
	return out
}

package checker

import (
	"fmt"
	"slices"
)

// UnmarshalText reads the words of the JSON result; n/a is another word for not-applicable.
func (v *Verdict) UnmarshalText(text []byte) error {
	if string(text) == "n/a" {
		*v = NotApplicable
		return nil
	}
	i := slices.Index(verdicts[:], string(text))
	if i < 0 {
		return fmt.Errorf("verdict %q: want one of %v", text, verdicts)
	}
	*v = Verdict(i)
	return nil
}

// Merge sums verdicts up: violated outweighs inconclusive, which outweighs held. What does not apply has no say. Of
// none at all it is Inconclusive.
func Merge(verdicts ...Verdict) Verdict {
	for _, v := range [...]Verdict{Violated, Inconclusive, Held, NotApplicable} {
		if slices.Contains(verdicts, v) {
			return v
		}
	}
	return Inconclusive
}

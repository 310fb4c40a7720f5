package runner

import (
	"strings"

	"github.com/locktest/locktest/checker"
)

// CodeDisagreement is the code of a DisagreementError.
const CodeDisagreement = "LT901"

// DisagreementError is that the two engines came to different verdicts on one history: one of them is wrong, so that no verdict on it
// is to be trusted.
type DisagreementError struct {
	About   string // as Disputed names it
	History string // its file; empty: there is none
}

func (e *DisagreementError) Error() string { return "the two engines disagree about " + e.About }

// Tell is how the error is told to people.
func (e *DisagreementError) Tell() (code, message string, details, fix []string) {
	report := "please report it, with the history"
	if e.History != "" {
		report += ": " + e.History
	}
	return CodeDisagreement, e.Error() + ": this is a bug in locktest", nil, []string{report}
}

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

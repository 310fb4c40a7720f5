package reports

import (
	"strings"
	"testing"
	"time"

	"github.com/locktest/locktest/history"
)

func TestStrayClock(t *testing.T) {
	reading := func(node string, offset time.Duration) history.Op {
		return history.Op{Type: history.ClockOffset, Name: node, Offset: offset}
	}
	for name, c := range map[string]struct {
		faults []history.Fault
		ops    []history.Op
		want   []string // words; none: no warning
	}{
		"none was read":    {nil, nil, nil},
		"near":             {nil, []history.Op{reading("n1", 100*time.Millisecond), reading("n2", -20*time.Millisecond)}, nil},
		"ahead":            {nil, []history.Op{reading("n1", time.Millisecond), reading("n2", 2*time.Second)}, []string{"n2", "2.000 s", "ahead of"}},
		"behind":           {nil, []history.Op{reading("n1", -3*time.Second), reading("n2", 2*time.Second)}, []string{"n1", "3.000 s", "behind"}},
		"moved on purpose": {[]history.Fault{{Kind: "clock"}}, []history.Op{reading("n2", 2*time.Second)}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got := strayClock(&history.History{Header: history.Header{Faults: c.faults}, Ops: c.ops})
			if (got == "") != (len(c.want) == 0) {
				t.Errorf("warning %q, want words %q", got, c.want)
			}
			for _, w := range c.want {
				if !strings.Contains(got, w) {
					t.Errorf("warning %q lacks %q", got, w)
				}
			}
		})
	}
}

package reports

import (
	"fmt"
	"time"

	"github.com/locktest/locktest/history"
)

// clocksApart is how far a server's clock may be from the harness's before a reader is told.
const clocksApart = 100 * time.Millisecond

// clockFault is the kind of the fault that moves clocks on purpose.
const clockFault = "clock"

// strayClock warns of the clock that was off the most, where nobody asked for that; empty where none was.
func strayClock(h *history.History) string {
	if h == nil {
		return ""
	}
	for _, f := range h.Header.Faults {
		if f.Kind == clockFault {
			return ""
		}
	}
	node, worst := "", time.Duration(0)
	for i := range h.Ops {
		if op := &h.Ops[i]; op.Type == history.ClockOffset && op.Offset.Abs() > worst.Abs() {
			node, worst = op.Name, op.Offset
		}
	}
	if worst.Abs() <= clocksApart {
		return ""
	}
	way := "ahead of"
	if worst < 0 {
		way = "behind"
	}
	return fmt.Sprintf("The clock of %s was %s %s this machine's, and no fault was meant to move it.", node, long(worst.Abs()), way)
}

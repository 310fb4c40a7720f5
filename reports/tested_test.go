package reports

import (
	"strings"
	"testing"

	"github.com/locktest/locktest/checker"
	"github.com/locktest/locktest/history"
	"github.com/locktest/locktest/runner"
)

// A run whose pauses were all shorter than its leases says that it shows nothing of stale holders.
func TestPausesWithinLeases(t *testing.T) {
	run := func(resumed, released int) *runner.Outcome {
		b := newBook(history.PerGrant, history.ChecksToken)
		b.acquire("c1", 1, 1000, 1002, 1) // until 3000
		b.fault(1, "pause", "pause c1 (SIGSTOP)", 1500, resumed, "c1")
		b.release("c1", 1, released, released+1, history.OK, "")
		b.finish()
		return b.outcome(nil, held(checker.Coverage, "1 fault, 1 hit a hold"))
	}
	const says = "shows nothing about stale holders"
	if text := written(t, Text(Style{Width: 400}), run(2500, 2600)); !strings.Contains(text, says) {
		t.Errorf("after a pause that was over before the lease was:\n%s", text)
	}
	if text := written(t, Text(Style{Width: 400}), run(3500, 3600)); strings.Contains(text, says) {
		t.Errorf("after a pause that outlasted the lease:\n%s", text)
	}
}

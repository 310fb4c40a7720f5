package checker

import (
	"math"
	"testing"

	"github.com/locktest/locktest/history"
)

// What is the most, the longest or the slowest of one lock is so of all locks: only counts add up.
func TestNumbersOfSeveralLocks(t *testing.T) {
	for name, c := range map[string]struct {
		history, property, summary string
		numbers                    map[string]float64
	}{
		"two queues": {`
lock L expiry=none fifo blocking owner-checked release-held
lock M expiry=none fifo blocking owner-checked release-held
a:A[0,10]lock=L b:A[20,2010]lock=L x:A[500,2500]lock=L a:R[2000,2005]lock=L b:R[2100,2101]lock=L x:R[2600,2601]lock=L
c:A[0,10]lock=M d:A[20,3010]lock=M c:R[3000,3005]lock=M d:R[3100,3101]lock=M c:A[3200,3201]lock=M c:R[3202,3203]lock=M`,
			Fairness, "passed over 0 times at most, longest wait 2.990 s",
			map[string]float64{"longest_wait_s": 2.99, "waited": 3, "jain_index": 0.9, "slowest_wakeup_s": 0.399, "most_bypassed": 0, "wakeups": 3}},
		"two passed over": {`
lock L expiry=none fifo blocking owner-checked release-held
lock M expiry=none fifo blocking owner-checked release-held
a:A[0,10]lock=L b:A[20,2900]lock=L x:A[500,2010]lock=L a:R[2000,2005]lock=L x:R[2600,2601]lock=L b:R[3000,3001]lock=L
c:A[0,10]lock=M d:A[20,2900]lock=M y:A[500,2010]lock=M c:R[2000,2005]lock=M y:R[2600,2601]lock=M d:R[3000,3001]lock=M`,
			Fairness, "passed over 1 times at most, longest wait 2.880 s", map[string]float64{"most_bypassed": 1, "jain_index": 1}},
		"readers": {`
lock L expiry=none shared owner-checked release-held
lock M expiry=none shared owner-checked release-held
a:rA[0,10]lock=L b:A[120,130]lock=L a:R[100,105]lock=L b:R[140,141]lock=L
c:rA[0,10]lock=M d:rA[120,130]lock=M c:R[100,105]lock=M d:R[150,151]lock=M`,
			ReadWrite, "4 holds, 0 violations, up to 1 reader at once", map[string]float64{"readers_at_once": 1, "holds": 4}},
	} {
		t.Run(name, func(t *testing.T) {
			h, err := history.ParseTextString(c.history)
			if err != nil {
				t.Fatal(err)
			}
			r := verdictOf(t, h, c.property)
			if r.Summary != c.summary {
				t.Errorf("%q, want %q", r.Summary, c.summary)
			}
			for k, want := range c.numbers {
				if got, ok := r.Numbers[k]; !ok || math.Abs(got-want) > 1e-9 {
					t.Errorf("%s %v, want %v", k, got, want)
				}
			}
		})
	}
}

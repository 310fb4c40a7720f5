package checker

import (
	"strings"
	"testing"
	"time"

	"github.com/locktest/locktest/history"
)

// logged is the verdict on mutual exclusion of a log with leases of two seconds.
func logged(t *testing.T, log string) Result {
	t.Helper()
	c := leased()
	c.TTL = 2 * time.Second
	h, err := history.ReadLog(strings.NewReader(log), c)
	if err != nil {
		t.Fatal(err)
	}
	return verdictOf(t, h, MutualExclusion)
}

// A holder that died accuses nobody, whether the log says so or only has nothing later of it: the next one was granted
// the lock after its lease had ended. A second grant before that is a double grant all the same.
func TestLogOfAHolderThatDied(t *testing.T) {
	const (
		held    = `{"op":"acquire","lock":"L","client":"a","start":1000.0,"end":1000.01}` + "\n"
		belief  = `{"op":"acquire","lock":"L","client":"a","start":1000.0,"end":1000.01,"valid_until":1003.0}` + "\n"
		crash   = `{"op":"crash","client":"a","start":1000.5}` + "\n"
		early   = `{"op":"acquire","lock":"L","client":"b","start":1001.5,"end":1001.51}` + "\n"
		late    = `{"op":"acquire","lock":"L","client":"b","start":1002.5,"end":1002.51}` + "\n"
		release = `{"op":"release","lock":"L","client":"b","start":1003.5,"end":1003.51}` + "\n"
		alive   = `{"op":"acquire","lock":"L","client":"a","start":1004.0,"end":1004.01,"result":"busy"}` + "\n"
	)
	for name, tt := range map[string]struct {
		log  string
		want Verdict
		kind string
	}{
		"silent":                             {held + late + release, Held, ""},
		"silent, granted within its lease":   {held + early + release, Violated, DoubleGrant},
		"killed":                             {held + crash + late + release, Held, ""},
		"killed, granted within its lease":   {held + crash + early + release, Violated, DoubleGrant},
		"silent, within what it was told":    {belief + late + release, Violated, DoubleGrant},
		"it went on, and was a stale holder": {held + late + release + alive, Violated, StaleHolder},
	} {
		t.Run(name, func(t *testing.T) {
			r := logged(t, tt.log)
			if r.Verdict != tt.want || tt.kind != "" && (len(r.Findings) != 1 || r.Findings[0].Kind != tt.kind) {
				t.Errorf("want %s, %s\n%s", tt.want, tt.kind, told([]Result{r}))
			}
		})
	}
}

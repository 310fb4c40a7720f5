//go:build integration

package controls

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/locktest/locktest/runner"
	"github.com/locktest/locktest/scenarios"
)

var hazardRuns = flag.Int("controls.hazards", 3, "runs of each scenario of Redis and PostgreSQL that expects a violation")

var guardRuns = flag.Int("controls.guards", 5, "runs of each that expects none")

// The known hazards of Redis and PostgreSQL appear, and the guards hold, in every run.
func TestServers(t *testing.T) {
	for _, name := range scenarios.List() {
		if !strings.HasPrefix(name, "redis/") && !strings.HasPrefix(name, "postgres/") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			file, src, err := scenarios.Find(name)
			if err != nil {
				t.Fatal(err)
			}
			runs := *guardRuns
			if strings.Contains(string(src), "verdict: violated") {
				runs = *hazardRuns
			}
			as := 0
			for n := range runs {
				seed := uint64(n + 1)
				o := one(t, file, src, seed)
				if o.Conclusion.Exit == runner.ExitOK {
					as++
					continue
				}
				t.Errorf("seed %d:\n%s", seed, told(o))
			}
			fmt.Printf("%-32s as expected in %d of %d runs\n", name, as, runs)
		})
	}
}

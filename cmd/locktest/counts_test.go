package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locktest/locktest/runner"
)

// The last line of the log while a run lasts has the numbers of its result.
func TestProgressCountsAsTheResultDoes(t *testing.T) {
	dir := t.TempDir()
	s := scenario(t, strings.Replace(clean, "memory/lease", "redis/single", 1)+"cluster: { kind: embedded }\nfaults:\n  - { every: 200ms, for: 40ms, limit: 3, pause: holder }\n")
	r := locktest(t, "run", s, "--run-dir", dir)
	var doc struct {
		Counts     struct{ Acquires int }
		Faults     []struct{ Begun int }
		Properties []struct {
			Property string
			Numbers  map[string]float64
		}
	}
	if err := json.Unmarshal([]byte(read(t, filepath.Join(dir, "latest", runner.ResultFile))), &doc); err != nil || len(doc.Faults) != 1 {
		t.Fatalf("%v: status %d\n%s%s", err, r.status, r.stdout, r.stderr)
	}
	lines := strings.Split(strings.TrimSpace(r.stderr), "\n")
	last := lines[len(lines)-1]
	if want := fmt.Sprintf("in all: %d grants, ", doc.Counts.Acquires); !strings.Contains(last, want) || doc.Counts.Acquires >= 1000 {
		t.Errorf("%q, the result has %d grants", last, doc.Counts.Acquires)
	}
	if want := map[int]string{1: "once", 2: "2 times", 3: "3 times"}[doc.Faults[0].Begun]; want == "" || !strings.HasSuffix(last, "faults began "+want) {
		t.Errorf("%q, in the result faults began %d times", last, doc.Faults[0].Begun)
	}
}

func TestEndedInTheSingular(t *testing.T) {
	for n, want := range map[int]string{1: "after 1 run\n", 2: "after 2 runs\n"} {
		var errs bytes.Buffer
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(runner.Interrupt("SIGINT"))
		(&app{stderr: &errs}).ended(ctx, n)
		if !strings.HasSuffix(errs.String(), want) {
			t.Errorf("%q", errs.String())
		}
	}
}

package checker

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/locktest/locktest/history"
)

// cases is where histories of other projects are: not in this repository, as they are not ours.
func cases(t *testing.T) string {
	t.Helper()
	foreignAsked.Store(true)
	dir := casesDir()
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no recorded histories of other projects: %v; name their folder in LOCKTEST_CASES", err)
	}
	return dir
}

func casesDir() string {
	dir := os.Getenv("LOCKTEST_CASES")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "cases")
	}
	return filepath.Join(dir, "histories")
}

// Foreign histories that were judged: how many recorded ones, and how many written as cases of a test.
var (
	foreignAsked                    atomic.Bool
	foreignSeen                     sync.Map
	foreignRecorded, foreignWritten atomic.Int32
)

// sayForeign prints what was judged, or why nothing was.
func sayForeign() {
	if !foreignAsked.Load() {
		return
	}
	said := fmt.Sprintf("%d recorded, %d written as unit cases", foreignRecorded.Load(), foreignWritten.Load())
	if _, err := os.Stat(casesDir()); err != nil {
		said = fmt.Sprintf("none: %v; LOCKTEST_CASES names the folder that has them", err)
	}
	fmt.Printf("third-party histories judged: %s\n", said)
}

func imported(t *testing.T, file string, c history.Contract, want history.Format) *history.History {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	h, format, err := history.Import(f, c)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	if format != want {
		t.Errorf("%s was taken for %s, want %s", file, format, want)
	}
	if _, twice := foreignSeen.LoadOrStore(file, true); !twice {
		foreignRecorded.Add(1)
	}
	return h
}

// safety merges the verdicts on safety.
func safety(rs []Result) Verdict {
	var vs []Verdict
	for _, r := range rs {
		if slices.Contains([]string{MutualExclusion, Ownership, Fencing}, r.Property) && r.Verdict != Inconclusive {
			vs = append(vs, r.Verdict)
		}
	}
	return Merge(vs...)
}

func leased() history.Contract {
	return history.Contract{Expiry: history.Lease, Tokens: history.NoTokens, OwnerChecked: true, ReleaseHeld: true}
}

func strict() history.Contract {
	return history.Contract{Expiry: history.NoExpiry, Tokens: history.NoTokens, OwnerChecked: true, ReleaseHeld: true}
}

// As a mutex without expiry the lock of etcd was lost twice; as a lease it was lost and noticed at the release.
func TestForeignEtcd(t *testing.T) {
	file := filepath.Join(cases(t), "knossos", "mutex-bad-etcd.edn")
	r := verdictOf(t, imported(t, file, strict(), history.FormatEDN), MutualExclusion)
	if r.Verdict != Violated || len(r.Findings) != 2 {
		t.Errorf("without expiry: %v with %d findings, want violated with 2", r.Verdict, len(r.Findings))
	}
	second := leased()
	second.TTL = 2 * time.Second
	for name, c := range map[string]history.Contract{"lease": leased(), "session": {Expiry: history.Session, TTL: 2 * time.Second, OwnerChecked: true, ReleaseHeld: true}} {
		r = verdictOf(t, imported(t, file, c, history.FormatEDN), MutualExclusion)
		if r.Verdict != Held || r.Numbers["holds"] != 132 || r.Numbers["lost_and_noticed"] != 2 {
			t.Errorf("with a %s: %v, %v holds, %v lost and noticed; want held, 132 holds, 2 lost and noticed\n%s", name, r.Verdict, r.Numbers["holds"], r.Numbers["lost_and_noticed"], told([]Result{r}))
		}
	}
}

func TestForeignAtlasDB(t *testing.T) {
	dir := filepath.Join(cases(t), "atlasdb")
	tests := map[string]struct {
		c        history.Contract
		want     Verdict
		findings int // of mutual exclusion; -1: any
	}{
		"lock_test_without_nemesis.json":     {leased(), Held, 0},
		"lock_history_early_eed5dd2948.json": {leased(), Violated, -1},
		"lock_history_early_499818611e.json": {leased(), Violated, -1},
		"correct_history.json":               {history.Contract{Expiry: history.Lease, Tokens: history.PerGrant}, Held, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			h := imported(t, filepath.Join(dir, name), tt.c, history.FormatAtlasDB)
			rs := Run(context.Background(), h, All(), Options{MaxFindings: 1000})
			if got := safety(rs); got != tt.want {
				t.Errorf("%v, want %v\n%.3000s", got, tt.want, told(rs))
			}
			if n := len(rs[0].Findings); tt.findings >= 0 && n != tt.findings || tt.findings < 0 && n == 0 {
				t.Errorf("mutual exclusion: %d findings", n)
			}
			if live := verdictOf(t, h, Liveness); tt.want == Held && live.Verdict == Violated {
				t.Errorf("liveness is violated, although nobody said how long its leases are: %s", live.Summary)
			}
			t.Logf("%s: %s, %d findings of mutual exclusion", name, rs[0].Summary, len(rs[0].Findings))
		})
	}
}

// A lock that is taken for one without expiry is wrongly accused on a history that is valid as leases: the contract counts.
func TestForeignContractCounts(t *testing.T) {
	file := filepath.Join(cases(t), "atlasdb", "lock_test_without_nemesis.json")
	rs := Run(context.Background(), imported(t, file, strict(), history.FormatAtlasDB), All(), Options{})
	if got := safety(rs); got != Violated {
		t.Errorf("as a lock without expiry: %v, want violated", got)
	}
}

func TestForeignUnitCases(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(cases(t), "atlasdb", "lock_checker_unit_cases.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Cases []struct {
			Name   string
			Events json.RawMessage
			Valid  bool  `json:"all_three_valid"`
			Errors []int `json:"error_event_indices"`
		}
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Cases) != 34 {
		t.Fatalf("%d cases, want 34", len(file.Cases))
	}
	for _, c := range file.Cases {
		t.Run(c.Name, func(t *testing.T) {
			h, err := history.ReadAtlasDB(bytes.NewReader(c.Events), leased())
			if err != nil {
				t.Fatal(err)
			}
			rs := Run(context.Background(), h, []Checker{For(MutualExclusion), For(Ownership)}, Options{})
			foreignWritten.Add(1)
			violated := safety(rs) == Violated
			if violated == c.Valid {
				t.Fatalf("violated=%v, want valid=%v\n%s\n%s", violated, c.Valid, told(rs), c.Events)
			}
			if violated && !points(rs, c.Errors) {
				t.Errorf("no finding names one of the events %v:\n%s", c.Errors, told(rs))
			}
		})
	}
}

// points says whether a finding names one of the events.
func points(rs []Result, events []int) bool {
	for _, r := range rs {
		for _, f := range r.Findings {
			if slices.ContainsFunc(f.Ops, func(i int) bool { return slices.Contains(events, i) }) {
				return true
			}
		}
	}
	return false
}

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/locktest/locktest/history"
	"github.com/locktest/locktest/runner"
)

// The events are the history, line by line, and then the result.
func TestEvents(t *testing.T) {
	dir := t.TempDir()
	events := filepath.Join(dir, "events.jsonl")
	r := locktest(t, "run", scenario(t, clean), "--run-dir", dir, "--events", events, "-q")
	if r.status != 0 {
		t.Fatalf("status %d\n%s", r.status, r.stderr)
	}
	got, err := os.ReadFile(events)
	if err != nil {
		t.Fatal(err)
	}
	recorded, err := os.ReadFile(filepath.Join(dir, "latest", "history.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(strings.TrimSuffix(string(got), "\n"), "\n")
	result := lines[len(lines)-1]
	if strings.Join(lines[:len(lines)-1], "") != string(recorded) {
		t.Errorf("%d events, the history has %d lines", len(lines)-1, strings.Count(string(recorded), "\n"))
	}
	var end struct{ Type, Word, Run string }
	if err := json.Unmarshal([]byte(result), &end); err != nil || end.Type != "result" || end.Word != "NO VIOLATION FOUND" || end.Run == "" {
		t.Errorf("%v: %s", err, result)
	}
	if r := locktest(t, "run", scenario(t, clean), "--run-dir", dir, "--events", "/nowhere/x", "-q"); r.status != 64 {
		t.Errorf("a file that can't be made: status %d\n%s", r.status, r.stderr)
	}
}

// watched is a writer whose text can be read while it is written to.
type watched struct {
	mu sync.Mutex
	b  strings.Builder
}

func (w *watched) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.Write(p)
}

func (w *watched) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.String()
}

// While a run lasts its metrics are served; when it is over nothing listens.
func TestMetricsAddr(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	var errs watched
	status := make(chan int, 1)
	args := []string{"run", scenario(t, clean), "--run-dir", t.TempDir(), "--metrics-addr", "127.0.0.1:0", "--set", "run.duration=4s"}
	go func() { status <- execute(ctx, args, io.Discard, &errs) }()
	url := ""
	found := until(ctx, func() bool {
		if m := regexp.MustCompile(`http://\S+`).FindString(errs.String()); m != "" {
			url = m
		}
		if url == "" {
			return false
		}
		resp, err := http.Get(url)
		if err != nil {
			return false
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		return err == nil && strings.Contains(string(b), `locktest_operations_total{operation="acquire",provider="memory/lease",result="ok"}`)
	})
	if !found {
		t.Errorf("no metrics at %q: %s", url, errs.String())
	}
	if s := <-status; s != 0 {
		t.Errorf("status %d\n%s", s, errs.String())
	}
	if resp, err := http.Get(url); err == nil {
		resp.Body.Close()
		t.Errorf("%s is served although the command has ended", url)
	}
	if r := locktest(t, "run", scenario(t, clean), "--run-dir", t.TempDir(), "--metrics-addr", "127.0.0.1:notaport"); r.status != 69 {
		t.Errorf("an address that is none: status %d\n%s", r.status, r.stderr)
	}
}

// until polls for a condition until ctx ends.
func until(ctx context.Context, condition func() bool) bool {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !condition() {
		select {
		case <-ctx.Done():
			return false
		case <-tick.C:
		}
	}
	return true
}

// A reader that takes nothing costs its events, and not the run.
func TestEventsThatNobodyReads(t *testing.T) {
	var errs watched
	a := &app{stderr: &errs}
	l := &live{queue: make(chan message, 2), done: make(chan struct{})}
	for i := range 5 {
		l.each(&history.Op{Index: i})
	}
	if n := l.dropped.Load(); n != 3 {
		t.Errorf("%d were dropped", n)
	}
	go l.work()
	l.stop(a)
	if !strings.Contains(errs.String(), "3 events were not told") {
		t.Error(errs.String())
	}
}

// A reader that is stuck costs the begin and the end of runs too: nothing waits for it for ever, and nothing waits at all after the
// first time. Of a run whose begin was lost only the end can be told, which says whose it is.
func TestRunsThatNobodyReads(t *testing.T) {
	var told watched
	l := &live{queue: make(chan message, 3), done: make(chan struct{}), events: &told, patience: time.Millisecond}
	over := make(chan bool)
	go func() {
		defer close(over)
		l.begin(history.Header{Run: "first"})
		for i := range 9 {
			l.each(&history.Op{Index: i})
		}
		l.end(&runner.Outcome{Run: "first"})
		l.patience = time.Hour
		l.begin(history.Header{Run: "second"})
	}()
	select {
	case <-over:
	case <-time.After(20 * time.Second):
		t.Fatal("it waits for the reader")
	}
	go l.work() // somebody reads again
	if !until(t.Context(), func() bool { return len(l.queue) == 0 }) {
		t.Fatal("nothing is read")
	}
	l.each(&history.Op{Index: 4711})
	l.end(&runner.Outcome{Run: "second"})
	l.begin(history.Header{Run: "third"})
	l.end(&runner.Outcome{Run: "third"})
	var errs watched
	l.stop(&app{stderr: &errs})
	text := told.String()
	if strings.Count(text, "first") != 1 || strings.Count(text, "second") != 1 || strings.Count(text, "third") != 2 || strings.Contains(text, "4711") {
		t.Error(text)
	}
	if !strings.Contains(errs.String(), "10 events were not told") || strings.Count(text, "\n") != 6 {
		t.Errorf("%s\n%s", errs.String(), text)
	}
}

func TestKeep(t *testing.T) {
	good, bad := scenario(t, clean), scenario(t, everyone)
	for name, c := range map[string]struct {
		args []string
		stay int
	}{
		"all":                    {[]string{good, "--repeat", "3"}, 3},
		"the last two":           {[]string{good, "--repeat", "3", "--keep", "2"}, 2},
		"none is violated":       {[]string{good, "--repeat", "2", "--keep", "violated"}, 0},
		"one of two is violated": {[]string{bad, good, "--keep", "violated"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			other := filepath.Join(dir, "20200101T000000-other-0000")
			if err := os.Mkdir(other, 0o755); err != nil {
				t.Fatal(err)
			}
			r := locktest(t, append([]string{"run", "--run-dir", dir, "-q", "--json"}, c.args...)...)
			runs, err := listRuns(dir)
			if err != nil || len(runs) != c.stay+1 {
				t.Errorf("%v: %v stay (status %d)\n%s", err, runs, r.status, r.stderr)
			}
			if _, err := os.Stat(other); err != nil {
				t.Error("another's folder is gone")
			}
			if to, err := os.Readlink(filepath.Join(dir, "latest")); c.stay > 0 && (err != nil || to != runs[len(runs)-1]) || c.stay == 0 && err == nil {
				t.Errorf("latest is %q (%v), the runs are %v", to, err, runs)
			}
			for _, path := range regexp.MustCompile(`"run": "(`+dir+`[^"]*)"`).FindAllStringSubmatch(r.stdout, -1) {
				if _, err := os.Stat(path[1]); err != nil {
					t.Errorf("the result names a folder that is gone: %v", err)
				}
			}
		})
	}
	if r := locktest(t, "run", good, "--keep", "0"); r.status != 64 {
		t.Errorf("--keep 0: status %d", r.status)
	}
}

func TestListOps(t *testing.T) {
	dir := t.TempDir()
	if r := locktest(t, "run", scenario(t, clean), "--run-dir", dir, "-q"); r.status != 0 {
		t.Fatalf("status %d\n%s", r.status, r.stderr)
	}
	r := locktest(t, "list", "ops", "latest", "--run-dir", dir, "--filter", "op:acquire result:ok client:c1")
	sc := bufio.NewScanner(strings.NewReader(r.stdout))
	n := 0
	for ; sc.Scan(); n++ {
		if f := strings.Fields(sc.Text()); n > 0 && (len(f) < 9 || !strings.Contains(sc.Text(), " c1 ") || !strings.Contains(sc.Text(), " acquire ")) {
			t.Errorf("%s", sc.Text())
		}
	}
	if r.status != 0 || n < 2 {
		t.Errorf("status %d, %d lines\n%s", r.status, n, r.stderr)
	}
	all := locktest(t, "list", "ops", "latest", "--run-dir", dir, "--json")
	if r := locktest(t, "list", "ops", "--run-dir", dir, "--json"); r.status != 0 || r.stdout != all.stdout {
		t.Errorf("without a run: status %d\n%s", r.status, r.stderr)
	}
	var doc struct{ Ops []struct{ Client string } }
	if err := json.Unmarshal([]byte(all.stdout), &doc); err != nil || len(doc.Ops) < n {
		t.Errorf("%v, %d operations", err, len(doc.Ops))
	}
	for _, args := range [][]string{{"list", "ops", "a", "b"}, {"list", "ops", "latest", "--filter", "who:c1"}, {"list", "ops", "nope"}} {
		if r := locktest(t, append(args, "--run-dir", dir)...); r.status != 64 {
			t.Errorf("%v: status %d\n%s", args, r.status, r.stderr)
		}
	}
}

// The formats that read histories are written of a real run.
func TestOutputsOfARun(t *testing.T) {
	dir := t.TempDir()
	prom, trace := filepath.Join(dir, "m.prom"), filepath.Join(dir, "t.json")
	if r := locktest(t, "run", scenario(t, clean), "--run-dir", dir, "-q", "-o", "prometheus="+prom, "-o", "perfetto="+trace); r.status != 0 {
		t.Fatalf("status %d\n%s", r.status, r.stderr)
	}
	b, err := os.ReadFile(prom)
	if err != nil || !strings.Contains(string(b), `locktest_acquire_duration_seconds_count{lock="orders",provider="memory/lease",result="ok"}`) {
		t.Errorf("%v: %.2000s", err, b)
	}
	b, err = os.ReadFile(trace)
	var doc struct{ TraceEvents []any }
	if err := fmt.Sprint(err, json.Unmarshal(b, &doc)); len(doc.TraceEvents) < 100 {
		t.Errorf("%s, %d events", err, len(doc.TraceEvents))
	}
}

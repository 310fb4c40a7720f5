package prom

import (
	"io"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/locktest/locktest/checker"
	"github.com/locktest/locktest/history"
	"github.com/locktest/locktest/runner"
)

var versions = map[string]string{"locktest": "v1.2.3", "history": history.Schema, "client": "locktest.client/1"}

// outcome is a run in which c2 waits for c1, which holds for 200 ms, while c3 is refused; a fault heals, another doesn't.
func outcome() *runner.Outcome {
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	h := &history.History{Header: history.Header{Schema: history.Schema, Locks: []history.Lock{{Name: "orders", Provider: "redis/single"}}}}
	add := func(at int, op history.Op) {
		op.Index, op.Time = len(h.Ops), ms(at)
		if op.F == history.Acquire || op.F == history.Release {
			op.Lock = "orders"
		}
		h.Ops = append(h.Ops, op)
	}
	add(0, history.Op{Client: "c1", Type: history.Invoke, F: history.Acquire, Grant: 1})
	add(3, history.Op{Client: "c1", Type: history.OK, F: history.Acquire, Grant: 1})
	add(10, history.Op{Client: "c2", Type: history.Invoke, F: history.Acquire, Grant: 2})
	add(20, history.Op{Client: "c3", Type: history.Invoke, F: history.Acquire, Grant: 3})
	add(30, history.Op{Client: "c3", Type: history.Fail, Outcome: history.Busy, F: history.Acquire, Grant: 3})
	add(40, history.Op{Client: "nemesis", Process: 1, Type: history.FaultBegin, F: "pause", Fault: 1, Targets: []string{"c1"}})
	add(50, history.Op{Client: "nemesis", Process: 1, Type: history.FaultEnd, F: "pause", Fault: 1, Targets: []string{"c1"}})
	add(60, history.Op{Client: "nemesis", Process: 2, Type: history.FaultBegin, F: "kill", Fault: 2, Targets: []string{"n1", "n2"}})
	add(203, history.Op{Client: "c1", Type: history.Invoke, F: history.Release, Grant: 1})
	add(204, history.Op{Client: "c1", Type: history.OK, F: history.Release, Grant: 1})
	add(205, history.Op{Client: "c2", Type: history.OK, F: history.Acquire, Grant: 2})
	add(300, history.Op{Client: "c4", Type: history.Invoke, F: history.Acquire, Grant: 4})
	add(900, history.Op{Client: "c4", Type: history.Info, F: history.Acquire, Grant: 4})
	return &runner.Outcome{Lock: "redis/single", History: h, Results: []checker.Result{{Property: checker.MutualExclusion, Count: 2}, {Property: checker.Fencing}}}
}

// What is measured live is what a result says: a handover doesn't go over another's hold here either.
func TestHandoversAreThoseOfTheResult(t *testing.T) {
	h, err := history.ParseTextString(`
lock L expiry=lease ttl=100
a:A[0,10]lock=L b:A[20,300]lock=L a:R[40,50]lock=L
c:A[60,100]lock=L
b:R[310,320]lock=L d:A[305,330]lock=L`)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := Text(&b, versions, []*runner.Outcome{{History: h}}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`locktest_handover_duration_seconds_count{lock="L",provider="text"} 1`, `locktest_handover_duration_seconds_sum{lock="L",provider="text"} 0.01`} {
		if !strings.Contains(b.String(), want) || runner.Measure(h).All.Handover.N != 1 {
			t.Errorf("without %s:\n%s", want, b.String())
		}
	}
}

// want are lines of the text form.
var want = []string{
	`locktest_acquire_duration_seconds_count{lock="orders",provider="redis/single",result="ok"} 2`,
	`locktest_acquire_duration_seconds_count{lock="orders",provider="redis/single",result="busy"} 1`,
	`locktest_acquire_duration_seconds_sum{lock="orders",provider="redis/single",result="unknown"} 0.6`,
	`locktest_hold_duration_seconds_sum{lock="orders",provider="redis/single"} 0.2`,
	`locktest_handover_duration_seconds_sum{lock="orders",provider="redis/single"} 0.001`,
	`locktest_operations_total{operation="acquire",provider="redis/single",result="ok"} 2`,
	`locktest_operations_total{operation="release",provider="redis/single",result="ok"} 1`,
	`locktest_violations_total{property="mutual-exclusion",provider="redis/single"} 2`,
	`locktest_violations_total{property="fencing",provider="redis/single"} 0`,
	`locktest_fault_active{kind="pause",target="c1"} 0`,
	`locktest_fault_active{kind="kill",target="n1,n2"} 1`,
	`locktest_build_info{client="locktest.client/1",history="locktest.history/1",version="v1.2.3"} 1`,
}

func has(t *testing.T, text string) {
	t.Helper()
	for _, line := range want {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("%s is missing in\n%s", line, text)
		}
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	if families, err := parser.TextToMetricFamilies(strings.NewReader(text)); err != nil || len(families) != 7 {
		t.Errorf("it is read back as %d families, %v", len(families), err)
	}
}

func TestText(t *testing.T) {
	var w strings.Builder
	if err := Text(&w, versions, []*runner.Outcome{outcome(), {}}); err != nil {
		t.Fatal(err)
	}
	has(t, w.String())
}

// What is served while a run lasts is what its history says afterwards.
func TestHandler(t *testing.T) {
	m := New(versions)
	m.Outcome(outcome())
	r := httptest.NewRecorder()
	m.Handler().ServeHTTP(r, httptest.NewRequest("GET", "/metrics", nil))
	b, err := io.ReadAll(r.Body)
	if err != nil || r.Code != 200 {
		t.Fatalf("%d, %v", r.Code, err)
	}
	has(t, string(b))
}

// A run that begins knows nothing of the faults and holds of the one before, and counts on.
func TestRunsAreApart(t *testing.T) {
	m := New(versions)
	m.Outcome(outcome())
	m.Begin(&outcome().History.Header)
	var w strings.Builder
	if err := m.Write(&w); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(w.String(), "locktest_fault_active{") || !strings.Contains(w.String(), want[5]) {
		t.Error(w.String())
	}
}

package nemesis

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/history"
)

// runFor runs plans in virtual time, for as long as the window lasts unless d is less.
func runFor(t *testing.T, w *world, d time.Duration, plans []Plan) (*diary, error) {
	t.Helper()
	r := newDiary()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	err := Run(ctx, w.env(), plans, r)
	if left := w.harmed(); len(left) != 0 {
		t.Errorf("left when Run returned: %v", left)
	}
	return r, err
}

func TestRunRecordsEachFault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		r, err := runFor(t, w, window.Until, lay(t, 1, window, Entry{
			Fault: NewPause(of("n1")), Trigger: at(4 * time.Second), For: lasting(3 * time.Second),
		}))
		if err != nil {
			t.Fatal(err)
		}
		base := history.Op{Client: "nemesis", Process: 1, F: "pause", Fault: 1, Targets: []string{"n1"}, Text: "pause n1 (no process is signalled)"}
		begin, end := base, base
		begin.Type, begin.Time, begin.Planned = history.FaultBegin, 4*time.Second, 4*time.Second
		end.Type, end.Time, end.Planned = history.FaultEnd, 7*time.Second, 7*time.Second
		if diff := cmp.Diff([]history.Op{begin, end}, r.ops); diff != "" {
			t.Errorf("recorded (-want +got):\n%s", diff)
		}
	})
}

func TestRunHealsEverythingWhenItsContextEnds(t *testing.T) {
	for name, tt := range faults() {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld()
				w.holders, w.waiters = []string{"c2"}, []string{"c3"}
				r, err := runFor(t, w, 3*time.Second, lay(t, 1, window, Entry{Fault: tt.fault, Trigger: at(time.Second), For: lasting(time.Hour)}))
				if err != nil {
					t.Fatal(err)
				}
				ends := r.of(history.FaultEnd)
				if len(r.of(history.FaultBegin)) != 1 || len(ends) != 1 || ends[0].Time != 3*time.Second {
					t.Errorf("recorded %+v", r.ops)
				}
			})
		})
	}
}

func TestRunMissesAFaultWithoutATarget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, err := runFor(t, newWorld(), window.Until, lay(t, 1, window, Entry{Fault: NewPause(of(Holder)), Trigger: at(time.Second), For: lasting(time.Second)}))
		if err != nil {
			t.Errorf("Run() = %v: an absent target is no error", err)
		}
		if len(r.ops) != 1 || r.ops[0].Type != history.FaultMissed || r.ops[0].Time != 3*time.Second || !strings.Contains(r.ops[0].Error, "no target") {
			t.Errorf("recorded %+v", r.ops)
		}
	})
}

func TestRunReportsAFaultThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.fail["pause n1"] = errBroken
		r, err := runFor(t, w, window.Until, lay(t, 1, window,
			Entry{Fault: NewPause(of("n1")), Trigger: at(time.Second), For: lasting(time.Second)},
			Entry{Fault: NewPause(of("n2")), Trigger: at(5 * time.Second), For: lasting(time.Second)},
		))
		if !errors.Is(err, errBroken) || !strings.Contains(err.Error(), "fault 1") {
			t.Errorf("Run() = %v", err)
		}
		var got []string
		for _, op := range r.ops {
			got = append(got, string(op.Type)+" "+op.Targets[0])
		}
		want := []string{"fault-begin n1", "fault-end n1", "fault-missed n1", "fault-begin n2", "fault-end n2"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("recorded (-want +got):\n%s", diff)
		}
	})
}

func TestRunTriesHealingAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.fail["resume n1"] = errBroken
		time.AfterFunc(10*time.Second, func() { w.mu.Lock(); defer w.mu.Unlock(); delete(w.fail, "resume n1") })
		r, err := runFor(t, w, 20*time.Second, lay(t, 1, window,
			Entry{Fault: NewPause(of("n1")), Trigger: at(time.Second), For: lasting(time.Second)},
			Entry{Fault: NewPause(of("n2")), Trigger: at(time.Second), For: lasting(15 * time.Second)}))
		if err != nil {
			t.Fatal(err)
		}
		if ends := r.of(history.FaultEnd); len(ends) != 2 || ends[1].Targets[0] != "n1" || ends[1].Fault != 1 || ends[1].F != "pause" {
			t.Errorf("ends %+v", ends)
		}
	})
}

func TestRunNamesWhatItCannotHeal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.fail["resume n1"] = errBroken
		r := newDiary()
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		err := Run(ctx, w.env(), lay(t, 1, window, Entry{Fault: NewPause(of("n1")), Trigger: at(time.Second), For: lasting(time.Second)}), r)
		if !errors.Is(err, errBroken) || !strings.Contains(err.Error(), "heal fault 1 (pause n1") {
			t.Errorf("Run() = %v", err)
		}
		if n := len(r.of(history.FaultEnd)); n != 0 {
			t.Errorf("%d ends recorded of a fault that wasn't healed", n)
		}
	})
}

func TestRunWhoseTimeEndsBeforeAFault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, err := runFor(t, newWorld(), 2*time.Second, lay(t, 1, window, Entry{Fault: NewPause(of("n1")), Trigger: at(10 * time.Second)}))
		if err != nil || len(r.ops) != 1 || r.ops[0].Type != history.FaultMissed || r.ops[0].Planned != 10*time.Second {
			t.Errorf("Run() = %v, recorded %+v", err, r.ops)
		}
	})
}

func TestRunKillDefaults(t *testing.T) {
	tests := []struct {
		name string
		spec KillSpec
		end  time.Duration
		dead []string // at the end of the window
	}{
		{"a client comes back after a second", KillSpec{Of: of("c1")}, 3 * time.Second, nil},
		{"a node stays dead", KillSpec{Of: of("n1"), Stays: true}, window.Until, []string{"dead n1", "down n1"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, r := newWorld(), newDiary()
				ctx, cancel := context.WithTimeout(t.Context(), window.Until)
				defer cancel()
				if err := Run(ctx, w.env(), lay(t, 1, window, Entry{Fault: NewKill(tt.spec), Trigger: at(2 * time.Second)}), r); err != nil {
					t.Fatal(err)
				}
				if ends := r.of(history.FaultEnd); len(ends) != 1 || ends[0].Time != tt.end {
					t.Errorf("ends %+v, want one at %v", ends, tt.end)
				}
				if diff := cmp.Diff(tt.dead, w.harmed()); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestRunOnEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		plans := lay(t, 1, window, Entry{
			Fault: NewPause(of(Holder)), Trigger: Trigger{On: Acquired, After: lasting(100 * time.Millisecond), Limit: 2}, For: lasting(time.Second),
		})
		var feeding sync.WaitGroup
		defer feeding.Wait()
		feeding.Go(func() { // every 300 ms another client acquires, from before the window on
			for i := range 100 {
				c := []string{"c1", "c2", "c3"}[i%3]
				w.hold(c)
				w.publish(Event{Kind: Waiting, Client: c})
				w.publish(Event{Kind: Acquired, Client: c})
				time.Sleep(300 * time.Millisecond)
			}
		})
		r, err := runFor(t, w, 30*time.Second, plans)
		if err != nil {
			t.Fatal(err)
		}
		begins, ends := r.of(history.FaultBegin), r.of(history.FaultEnd)
		if len(begins) != 2 || len(ends) != 2 {
			t.Fatalf("%d begins and %d ends, want 2: %+v", len(begins), len(ends), r.ops)
		}
		// The first acquire after one second is at 1.2 s; events during the pause are passed over.
		for i, want := range []time.Duration{1300 * time.Millisecond, 2500 * time.Millisecond} {
			if begins[i].Time != want || begins[i].Planned != want || ends[i].Time != want+time.Second {
				t.Errorf("pause %d from %v (planned %v) to %v, want from %v for 1s", i, begins[i].Time, begins[i].Planned, ends[i].Time, want)
			}
		}
		if begins[0].Process == begins[1].Process {
			t.Error("two occurrences are one process")
		}
	})
}

func TestOverlappingFaultsCompose(t *testing.T) {
	second := time.Second
	tests := []struct {
		name    string
		a, b    Fault // from 1s to 5s, from 3s to 9s
		at4     []string
		at7     []string
		pauses  int
		restart int
	}{
		{name: "pause twice", a: NewPause(of("n1")), b: NewPause(of("n1")), at4: []string{"paused n1"}, at7: []string{"paused n1"}, pauses: 1},
		{name: "kill twice", a: NewKill(KillSpec{Of: of("n1")}), b: NewKill(KillSpec{Of: of("n1")}), at4: []string{"dead n1", "down n1"}, at7: []string{"dead n1", "down n1"}, restart: 1},
		{name: "a paused client is killed", a: NewPause(of("c1")), b: NewKill(KillSpec{Of: of("c1")}), at4: []string{"dead c1"}, at7: []string{"dead c1"}, pauses: 1, restart: 1},
		{name: "two partitions on a link", a: cutC1(cluster.Drop), b: cutC1(cluster.Hold), at4: []string{"c1>n1 drop", "n1>c1 drop"}, at7: []string{"c1>n1 hold", "n1>c1 hold"}},
		{name: "a partition and latency", a: cutC1(cluster.Refuse), b: NewLatency(LatencySpec{Of: of("c1"), Latency: second}), at4: []string{"c1>n1 refuse", "n1>c1 refuse"}, at7: []string{"c1>n1 pass", "n1>c1 pass"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld()
				look := func(when time.Duration, want []string) {
					time.AfterFunc(when, func() {
						got := slices.DeleteFunc(w.harmed(), func(s string) bool {
							return strings.Contains(s, ">") && !strings.Contains(s, "n1")
						})
						if diff := cmp.Diff(want, got); diff != "" {
							t.Errorf("at %v (-want +got):\n%s", when, diff)
						}
					})
				}
				look(4*second, tt.at4)
				look(7*second, tt.at7)
				_, err := runFor(t, w, window.Until, lay(t, 1, window,
					Entry{Fault: tt.a, Trigger: at(second), For: lasting(4 * second)},
					Entry{Fault: tt.b, Trigger: at(3 * second), For: lasting(6 * second)}))
				if err != nil {
					t.Fatal(err)
				}
				if n := w.count("pause n1") + w.count("pause c1"); n != tt.pauses {
					t.Errorf("paused %d times, want %d", n, tt.pauses)
				}
				if n := w.count("restart n1") + w.count("restart c1"); n != tt.restart {
					t.Errorf("restarted %d times, want %d", n, tt.restart)
				}
			})
		})
	}
}

// cutC1 cuts c1 from n1 alone.
func cutC1(m cluster.Mode) Fault {
	return NewPartition(PartitionSpec{Groups: [][]string{{"c1"}, {"n1"}}, Mode: m})
}

func TestLatenciesAdd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		link := cluster.Link{From: "c1", To: "n1"}
		time.AfterFunc(4*time.Second, func() {
			if got, want := conditions(w)[link], (cluster.Condition{Latency: 3 * time.Second, Jitter: 1}); got != want {
				t.Errorf("with two latencies: %+v, want %+v", got, want)
			}
		})
		time.AfterFunc(7*time.Second, func() {
			if got, want := conditions(w)[link], (cluster.Condition{Latency: 2 * time.Second}); got != want {
				t.Errorf("with the second alone: %+v, want %+v", got, want)
			}
		})
		_, err := runFor(t, w, window.Until, lay(t, 1, window,
			Entry{Fault: NewLatency(LatencySpec{Of: of("c1"), Latency: time.Second, Jitter: 1}), Trigger: at(time.Second), For: lasting(4 * time.Second)},
			Entry{Fault: NewLatency(LatencySpec{Of: of("n1"), Latency: 2 * time.Second}), Trigger: at(3 * time.Second), For: lasting(6 * time.Second)}))
		if err != nil {
			t.Fatal(err)
		}
	})
}

func TestPausePassesTheDeadOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		r, err := runFor(t, w, window.Until, lay(t, 1, window,
			Entry{Fault: NewKill(KillSpec{Of: of("n1")}), Trigger: at(time.Second), For: lasting(10 * time.Second)},
			Entry{Fault: NewPause(Target{List: []string{"n1", "n2"}}), Trigger: at(2 * time.Second), For: lasting(time.Second)},
			Entry{Fault: NewPause(of("n1")), Trigger: at(4 * time.Second), For: lasting(time.Second)}))
		if err != nil {
			t.Fatal(err)
		}
		if w.count("pause n1") != 0 || w.count("pause n2") != 1 {
			t.Errorf("calls %v", w.calls)
		}
		if missed := r.of(history.FaultMissed); len(missed) != 1 || missed[0].Fault != 3 {
			t.Errorf("missed %+v, want fault 3 alone", missed)
		}
	})
}

// late is a fault that knows only at its end what it was.
type late struct {
	Fault
	text string
	err  error
}

func (l late) Inject(ctx context.Context, env Env) (Injection, error) {
	i, err := l.Fault.Inject(ctx, env)
	i.Result = func() (string, error) { return l.text, l.err }
	return i, err
}

// What a fault tells when it is over stands at its end; that it was nothing is told as a fault that was missed.
func TestResultIsRecordedAtTheEnd(t *testing.T) {
	for name, f := range map[string]late{
		"something": {NewPause(of("n1")), "dropped a reply", nil},
		"nothing":   {NewPause(of("n1")), "", ErrNoTarget},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, d := newWorld(), newDiary()
				plans := lay(t, 1, Window{0, 10 * time.Second}, Entry{Fault: f, Trigger: at(time.Second), For: lasting(time.Second)})
				ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
				defer cancel()
				if err := Run(ctx, w.env(), plans, d); err != nil {
					t.Fatal(err)
				}
				begins, ends, missed := d.of(history.FaultBegin), d.of(history.FaultEnd), d.of(history.FaultMissed)
				if len(begins) != 1 || len(ends) != 1 || (len(missed) == 1) != (f.err != nil) {
					t.Fatalf("begins %v, ends %v, missed %v", begins, ends, missed)
				}
				if f.text != "" && ends[0].Text != f.text || f.err != nil && missed[0].Error != f.err.Error() {
					t.Errorf("told %q at the end, missed %v", ends[0].Text, missed)
				}
			})
		})
	}
}

// What chance had drawn and found nothing to be done to doesn't count as missed.
func TestRandomForgivesWhatCameToNothing(t *testing.T) {
	for name, err := range map[string]error{"nothing": ErrNoTarget, "another error": errBroken} {
		t.Run(name, func(t *testing.T) {
			f := NewRandom(Nodes, []Maker{{"pause", func(of Target) Fault { return late{NewPause(of), "", err} }}})
			i, e := f.Inject(context.Background(), newWorld().env())
			if e != nil {
				t.Fatal(e)
			}
			text, got := i.Result()
			if forgiven := got == nil && strings.Contains(text, "nothing to do it to"); forgiven != errors.Is(err, ErrNoTarget) {
				t.Errorf("result %q, %v", text, got)
			}
		})
	}
}

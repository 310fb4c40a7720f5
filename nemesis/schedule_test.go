package nemesis

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var window = Window{From: time.Second, Until: 60 * time.Second}

func everyKind() []Entry {
	return []Entry{
		{Fault: NewPause(of(Holder)), Trigger: Trigger{At: &Range{2 * time.Second, 5 * time.Second}}, For: Range{time.Second, 3 * time.Second}},
		{Fault: NewKill(KillSpec{Of: of(One)}), Trigger: Trigger{Every: &Range{2 * time.Second, 4 * time.Second}}, For: Range{time.Second, 2 * time.Second}},
		{Fault: NewPause(of(Holder)), Trigger: Trigger{On: Acquired, After: Range{0, time.Second}, Chance: 0.3}, For: Range{time.Second, 3 * time.Second}},
	}
}

// choices is all that a plan leaves to chance.
func choices(plans []Plan) (out []any) {
	for _, p := range plans {
		out = append(out, p.Times)
		for n := range 20 {
			out = append(out, p.Draw(n+1))
		}
	}
	return out
}

func TestSameSeedSameSchedule(t *testing.T) {
	different := 0
	var last []any
	for seed := range uint64(100) {
		first := choices(lay(t, seed, window, everyKind()...))
		second := choices(lay(t, seed, window, everyKind()...))
		if diff := cmp.Diff(first, second); diff != "" {
			t.Fatalf("seed %d, laid out twice (-first +second):\n%s", seed, diff)
		}
		if !cmp.Equal(first, last) {
			different++
		}
		last = first
	}
	if different != 100 {
		t.Errorf("%d of 100 seeds gave another schedule than the one before, want all", different)
	}
}

func TestDrawDoesNotDependOnEarlierDraws(t *testing.T) {
	a, b := lay(t, 1, window, everyKind()...)[2], lay(t, 1, window, everyKind()...)[2]
	for n := range 10 {
		a.Draw(n)
	}
	if diff := cmp.Diff(a.Draw(10), b.Draw(10)); diff != "" {
		t.Errorf("draw 10 after nine others, and alone:\n%s", diff)
	}
}

func TestAFaultDoesNotChangeTheOthers(t *testing.T) {
	all := everyKind()
	with := lay(t, 3, window, all[0], all[1])
	without := lay(t, 3, window, all[0])
	if diff := cmp.Diff(with[0].Times, without[0].Times); diff != "" {
		t.Errorf("fault 1 with a second fault, and alone:\n%s", diff)
	}
}

func TestTimes(t *testing.T) {
	s := time.Second
	tests := []struct {
		name    string
		trigger Trigger
		want    []time.Duration
	}{
		{"at", at(4 * s), []time.Duration{4 * s}},
		{"every, in the window", Trigger{Every: &Range{10 * s, 10 * s}}, []time.Duration{11 * s, 21 * s, 31 * s, 41 * s, 51 * s}},
		{"from and until", Trigger{Every: &Range{10 * s, 10 * s}, From: 5 * s, Until: 30 * s}, []time.Duration{15 * s, 25 * s}},
		{"limit", Trigger{Every: &Range{10 * s, 10 * s}, Limit: 2}, []time.Duration{11 * s, 21 * s}},
		{"until after the window", Trigger{Every: &Range{30 * s, 30 * s}, Until: 1000 * s}, []time.Duration{31 * s}},
		{"on", Trigger{On: Acquired}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := lay(t, 1, window, Entry{Fault: NewPause(of(All)), Trigger: tt.trigger, For: lasting(s)})[0]
			var got []time.Duration
			for _, o := range p.Times {
				got = append(got, o.Begin)
				if o.For != s {
					t.Errorf("it lasts %v, want 1s", o.For)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("begins (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDrawnTimesStayInTheirRanges(t *testing.T) {
	for seed := range uint64(50) {
		plans := lay(t, seed, window, everyKind()...)
		if b := plans[0].Times[0].Begin; b < 2*time.Second || b > 5*time.Second {
			t.Fatalf("seed %d: at %v, want 2s to 5s", seed, b)
		}
		last := window.From
		for _, o := range plans[1].Times {
			if gap := o.Begin - last; gap < 2*time.Second || gap > 4*time.Second {
				t.Fatalf("seed %d: a gap of %v, want 2s to 4s", seed, gap)
			}
			last = o.Begin
		}
	}
}

func TestChance(t *testing.T) {
	taken := 0
	const events = 2000
	p := lay(t, 9, window, everyKind()...)[2]
	for n := range events {
		if p.Draw(n + 1).Taken {
			taken++
		}
	}
	if share := float64(taken) / events; share < 0.26 || share > 0.34 { // four standard deviations
		t.Errorf("%.3f of the events were taken, want 0.3", share)
	}
	always := lay(t, 9, window, Entry{Fault: NewPause(of(All)), Trigger: Trigger{On: Waiting}})[0]
	if !always.Draw(1).Taken || !always.Draw(2).Taken {
		t.Error("without a chance, an event was passed over")
	}
}

func TestLayRefuses(t *testing.T) {
	tests := []struct {
		name    string
		trigger Trigger
		want    string
	}{
		{"no trigger", Trigger{}, "exactly one trigger"},
		{"two triggers", Trigger{At: &Range{}, On: Acquired}, "exactly one trigger"},
		{"every nothing", Trigger{Every: &Range{}}, "above 0"},
		{"unknown event", Trigger{On: "dreaming"}, `"dreaming"`},
		{"chance", Trigger{On: Acquired, Chance: 1.5}, "1.5"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Lay([]Entry{{Fault: NewPause(of(All)), Trigger: tt.trigger}}, 1, window)
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "fault 1") {
				t.Errorf("Lay() = %v, want an error about fault 1 with %q", err, tt.want)
			}
		})
	}
}

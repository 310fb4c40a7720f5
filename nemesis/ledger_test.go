package nemesis

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/locktest/locktest/internal/vclock"
)

// idleNode is a process by name only: there is nothing whose clocks could be set.
type idleNode struct{ fakeNode }

func (idleNode) Pid() int { return 0 }

// clockWorld is a world whose n1 has clocks, and one ledger for all that is done in it.
func clockWorld() (*world, Env) {
	w := newWorld()
	env := w.env()
	env.Nodes[0] = idleNode{fakeNode{w, "n1"}}
	env.ledger = newLedger(env)
	return w, env
}

// sum is what the books say of the clocks of a target.
func (l *ledger) sum(name string) vclock.Offset {
	t := l.target(name)
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.clocks()
}

// What a monotonic clock gained goes with its process: a later fault begins with a clock that is right, and healing twice
// kills once.
func TestMonotonicClockIsOutOfTheBooksWhenHealed(t *testing.T) {
	ctx := context.Background()
	w, env := clockWorld()
	fault := func(clock string, jump time.Duration) Injection {
		i, err := NewClock(ClockSpec{Of: of("n1"), Clock: clock, Jump: jump}).Inject(ctx, env)
		if err != nil {
			t.Fatal(err)
		}
		return i
	}
	heal := func(i Injection) {
		t.Helper()
		if err := i.Heal(ctx); err != nil {
			t.Fatal(err)
		}
	}
	wants := func(when string, want vclock.Offset) {
		t.Helper()
		if got := env.ledger.sum("n1"); got != want {
			t.Errorf("%s: %+v, want %+v", when, got, want)
		}
	}
	first := fault(Monotonic, 10*time.Second)
	wants("first", vclock.Offset{Monotonic: 10 * time.Second})
	heal(first)
	heal(first)
	wants("healed", vclock.Offset{})
	if k, r := w.count("kill n1"), w.count("restart n1"); k != 1 || r != 1 {
		t.Errorf("healed twice: killed %d times, restarted %d times, want once", k, r)
	}
	second := fault(Monotonic, 10*time.Second)
	wants("second", vclock.Offset{Monotonic: 10 * time.Second})
	third := fault(Wall, 5*time.Second)
	wants("both", vclock.Offset{Wall: 5 * time.Second, Monotonic: 10 * time.Second})
	heal(second)
	wants("the second healed", vclock.Offset{Wall: 5 * time.Second})
	heal(third)
	wants("all healed", vclock.Offset{})
}

// Where the process was killed and didn't come back, healing again brings it back and kills nobody.
func TestMonotonicClockIsHealedInTwoTries(t *testing.T) {
	ctx := context.Background()
	w, env := clockWorld()
	i, err := NewClock(ClockSpec{Of: of("n1"), Clock: Monotonic, Jump: time.Second}).Inject(ctx, env)
	if err != nil {
		t.Fatal(err)
	}
	w.fail["restart n1"] = errBroken
	if err := i.Heal(ctx); !errors.Is(err, errBroken) {
		t.Fatalf("Heal() = %v", err)
	}
	delete(w.fail, "restart n1")
	if err := i.Heal(ctx); err != nil || len(w.harmed()) > 0 || w.count("kill n1") != 1 {
		t.Errorf("healing again: %v, left %v, killed %d times", err, w.harmed(), w.count("kill n1"))
	}
}

// The dead have no clocks.
func TestClockPassesTheDeadOver(t *testing.T) {
	ctx := context.Background()
	_, env := clockWorld()
	kill, err := NewKill(KillSpec{Of: of("n1")}).Inject(ctx, env)
	if err != nil {
		t.Fatal(err)
	}
	clock := NewClock(ClockSpec{Of: of("n1"), Jump: time.Second})
	if _, err := clock.Inject(ctx, env); !errors.Is(err, ErrNoTarget) {
		t.Errorf("the clock of a dead node: %v, want %v", err, ErrNoTarget)
	}
	if err := kill.Heal(ctx); err != nil {
		t.Fatal(err)
	}
	i, err := clock.Inject(ctx, env)
	if err != nil {
		t.Fatal(err)
	}
	if err := i.Heal(ctx); err != nil {
		t.Error(err)
	}
}

// A node that came back, and of which the network wasn't told, is not started again.
func TestNodeUpIsTriedAlone(t *testing.T) {
	ctx := context.Background()
	w := newWorld()
	env := w.env()
	env.ledger = newLedger(env)
	i, err := NewKill(KillSpec{Of: of("n1")}).Inject(ctx, env)
	if err != nil {
		t.Fatal(err)
	}
	w.fail["up n1"] = errBroken
	if err := i.Heal(ctx); !errors.Is(err, errBroken) {
		t.Fatalf("Heal() = %v", err)
	}
	delete(w.fail, "up n1")
	for range 2 {
		if err := i.Heal(ctx); err != nil || len(w.harmed()) > 0 {
			t.Errorf("healing again: %v, left %v", err, w.harmed())
		}
	}
	if n := w.count("restart n1"); n != 1 {
		t.Errorf("restarted %d times", n)
	}
	again, err := NewKill(KillSpec{Of: of("n1")}).Inject(ctx, env)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Heal(ctx); err != nil || len(w.harmed()) > 0 || w.count("restart n1") != 2 {
		t.Errorf("a second kill: %v, left %v, restarted %d times", err, w.harmed(), w.count("restart n1"))
	}
}

// Package storestest is the conformance kit of stores, on a real server behind links. It knows no store by name.
package storestest

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/cluster/process"
	"github.com/locktest/locktest/cluster/proxy"
	"github.com/locktest/locktest/internal/proc"
	"github.com/locktest/locktest/stores"
)

// Kit is what there is to test.
type Kit struct {
	Service cluster.Service
	New     func(stores.Options) stores.Store
}

// limit is how long anything may take that is to happen; short, a request that is to get no answer.
const (
	limit = 60 * time.Second
	short = 400 * time.Millisecond
)

// Run starts one server and tests every check on resources of their own.
func Run(t *testing.T, k Kit) {
	b := up(t, k)
	t.Run("checks", b.checks)
	t.Run("a read advances the mark", b.readAdvances)
	t.Run("tokens have 64 bits", b.tokensAreLarge)
	t.Run("versions under load", b.load)
	t.Run("two steps let a stale write in", b.twoSteps)
	t.Run("who can't reach it has sent nothing", b.unreachable)
	t.Run("a lost reply is of unknown outcome", b.replyLost)
	t.Run("a read that is given up is over", b.givenUp)
	t.Run("a write that is held isn't there yet", b.held)
	t.Run("close", b.close)
}

// bench is a server with links from c1 and c2.
type bench struct {
	kit Kit
	net *proxy.Network
}

const server = "store"

func up(t *testing.T, k Kit) *bench {
	t.Helper()
	s, err := proc.NewSpawner(proc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	o := process.Options{Service: k.Service, Nodes: 1, Name: server, Spawner: s, LogDir: t.TempDir()}
	if k.Service.Child != "" {
		if o.Self, err = os.Executable(); err != nil {
			t.Fatal(err)
		}
	}
	c, err := process.New(o)
	if err != nil {
		t.Fatalf("%v; make deps installs it", err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("close the server: %v", err)
		}
	})
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	net, err := proxy.New(proxy.Options{Clients: []string{"c1", "c2"}, Nodes: c.Nodes(), Rand: rand.New(rand.NewPCG(1, 1))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { net.Close() })
	return &bench{k, net}
}

func (b *bench) open(t *testing.T, client string, o stores.Options) stores.Store {
	t.Helper()
	o.Addr = b.net.Addr(client, server)
	if o.Timeout == 0 {
		o.Timeout = limit
	}
	s := b.kit.New(o)
	t.Cleanup(func() { s.Close() })
	return s
}

// set puts the links of c1 into a condition, and back at the end of the test.
func (b *bench) set(t *testing.T, mode cluster.Mode, links ...cluster.Link) (heal func()) {
	t.Helper()
	if err := b.net.Set(t.Context(), cluster.Condition{Mode: mode}, links...); err != nil {
		t.Fatal(err)
	}
	heal = func() {
		if err := b.net.Set(context.Background(), cluster.Condition{}, links...); err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(heal)
	return heal
}

// outcome is an error in a word.
func outcome(err error) string {
	switch {
	case err == nil:
		return "ok"
	case errors.Is(err, stores.ErrRejected):
		return "rejected"
	case errors.Is(err, stores.ErrUnavailable):
		return "unavailable"
	}
	return "unknown"
}

func (b *bench) checks(t *testing.T) {
	writes := []stores.Write{{Token: 5, Base: 0, Value: 1, N: 10}, {Token: 7, Base: 1, Value: 2, N: 20}, {Token: 6, Base: 1, Value: 3, N: 30}, {Token: 7, Base: 2, Value: 4, N: 40}, {Token: 0, Base: 2, Value: 5, N: 50}}
	for check, want := range map[stores.Check][]string{
		stores.IgnoresToken:     {"ok", "ok", "ok", "ok", "ok"},
		stores.ChecksToken:      {"ok", "ok", "rejected", "ok", "ok"},
		stores.ChecksVersion:    {"ok", "ok", "rejected", "ok", "rejected"},
		stores.ChecksInTwoSteps: {"ok", "ok", "rejected", "ok", "ok"},
	} {
		t.Run(string(check), func(t *testing.T) {
			s := b.open(t, "c1", stores.Options{Check: check, Gap: time.Millisecond})
			other := b.open(t, "c2", stores.Options{Check: stores.IgnoresToken})
			resource := "checks-" + string(check)
			state, err := s.Read(t.Context(), resource, 0)
			if err != nil || state != (stores.State{}) {
				t.Fatalf("before the first write: %+v, %v", state, err)
			}
			for i, w := range writes {
				err := s.Write(t.Context(), resource, w)
				if got := outcome(err); got != want[i] {
					t.Errorf("write %d: %s (%v), want %s", i+1, got, err, want[i])
				}
				if want[i] == "ok" {
					state = stores.State{Version: w.Value, N: w.N}
				}
				if got, err := other.Read(t.Context(), resource, 0); err != nil || got != state {
					t.Errorf("after write %d somebody else reads %+v, %v, want %+v", i+1, got, err, state)
				}
			}
		})
	}
}

func (b *bench) readAdvances(t *testing.T) {
	for _, check := range []stores.Check{stores.ChecksToken, stores.ChecksInTwoSteps} {
		resource := "mark-" + string(check)
		c1, c2 := b.open(t, "c1", stores.Options{Check: check, Gap: time.Millisecond}), b.open(t, "c2", stores.Options{Check: check})
		for i, step := range []struct {
			err  error
			want string
		}{
			{read(t, c1, resource, 7), "ok"},
			{read(t, c2, resource, 8), "ok"},
			{c1.Write(t.Context(), resource, stores.Write{Token: 7, Value: 1}), "rejected"},
			{read(t, c1, resource, 7), "rejected"},
			{read(t, c2, resource, 8), "ok"},
			{c2.Write(t.Context(), resource, stores.Write{Token: 8, Value: 2}), "ok"},
			{read(t, c1, resource, 0), "ok"},
		} {
			if got := outcome(step.err); got != step.want {
				t.Errorf("%s: step %d is %s (%v), want %s", check, i+1, got, step.err, step.want)
			}
		}
	}
}

func read(t *testing.T, s stores.Store, resource string, token uint64) error {
	t.Helper()
	_, err := s.Read(t.Context(), resource, token)
	return err
}

// An answer that comes too late is written nowhere: the race detector sees it otherwise.
func (b *bench) givenUp(t *testing.T) {
	s := b.open(t, "c1", stores.Options{Check: stores.ChecksToken})
	for i := range 60 {
		if err := read(t, s, "given-up", 1); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*20*time.Microsecond)
		if state, err := s.Read(ctx, "given-up", 1); err == nil && state != (stores.State{}) {
			t.Errorf("what was never written is %+v", state)
		}
		cancel()
		time.Sleep(5 * time.Millisecond) // let the answer come: another request would put it in an order
	}
}

// Numbers that are alike as floating-point numbers, or as text of different lengths, are told apart.
func (b *bench) tokensAreLarge(t *testing.T) {
	s := b.open(t, "c1", stores.Options{Check: stores.ChecksToken})
	for i, step := range []struct {
		token uint64
		want  string
	}{{9, "ok"}, {10, "ok"}, {9, "rejected"}, {1<<53 + 1, "ok"}, {1 << 53, "rejected"}, {math.MaxInt64 + 1, "ok"}, {math.MaxInt64, "rejected"}, {math.MaxUint64, "ok"}, {math.MaxUint64 - 1, "rejected"}, {math.MaxUint64, "ok"}} {
		err := s.Write(t.Context(), "large", stores.Write{Token: step.token, Value: int64(i + 1)})
		if got := outcome(err); got != step.want {
			t.Errorf("step %d, token %d: %s (%v), want %s", i+1, step.token, got, err, step.want)
		}
	}
}

// Clients that count together by comparing versions lose nothing.
func (b *bench) load(t *testing.T) {
	const each = 20
	var values atomic.Int64
	var wg sync.WaitGroup
	for _, client := range []string{"c1", "c2", "c1", "c2"} {
		s := b.open(t, client, stores.Options{Check: stores.ChecksVersion})
		wg.Go(func() {
			for done := 0; done < each; {
				state, err := s.Read(t.Context(), "load", 0)
				if err == nil {
					err = s.Write(t.Context(), "load", stores.Write{Base: state.Version, Value: values.Add(1), N: state.N + 1})
				}
				switch outcome(err) {
				case "ok":
					done++
				case "rejected":
				default:
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	s := b.open(t, "c1", stores.Options{})
	if state, err := s.Read(t.Context(), "load", 0); err != nil || state.N != 4*each {
		t.Errorf("the count is %d, %v, want %d", state.N, err, 4*each)
	}
}

// What comes between the check and the write is wiped out; a check in one step leaves no between.
func (b *bench) twoSteps(t *testing.T) {
	slow := b.open(t, "c1", stores.Options{Check: stores.ChecksInTwoSteps, Gap: 3 * time.Second})
	other := b.open(t, "c2", stores.Options{Check: stores.ChecksToken})
	wrote := make(chan error, 1)
	go func() { wrote <- slow.Write(t.Context(), "steps", stores.Write{Token: 5, Value: 1, N: 1}) }()
	eventually(t, "the first of two steps", func() bool { return outcome(read(t, other, "steps", 4)) == "rejected" })
	if err := other.Write(t.Context(), "steps", stores.Write{Token: 6, Value: 2, N: 2}); err != nil {
		t.Fatal(err)
	}
	if err := <-wrote; err != nil {
		t.Fatalf("the second step: %v", err)
	}
	if state, err := other.Read(t.Context(), "steps", 6); err != nil || state.Version != 1 {
		t.Errorf("read %+v, %v: the stale write should have come last", state, err)
	}
}

func (b *bench) unreachable(t *testing.T) {
	b.set(t, cluster.Refuse, cluster.Both("c1", server)...)
	s := b.open(t, "c1", stores.Options{Timeout: short})
	for range 2 {
		if err := s.Write(t.Context(), "refused", stores.Write{Value: 1}); outcome(err) != "unavailable" {
			t.Errorf("write: %v, want %v", err, stores.ErrUnavailable)
		}
		if err := read(t, s, "refused", 0); outcome(err) != "unavailable" {
			t.Errorf("read: %v, want %v", err, stores.ErrUnavailable)
		}
	}
}

func (b *bench) replyLost(t *testing.T) {
	s, other := b.warm(t, "reply")
	heal := b.set(t, cluster.Hold, cluster.Link{From: server, To: "c1"})
	if err := s.Write(t.Context(), "reply", stores.Write{Token: 3, Base: 1, Value: 2, N: 2}); outcome(err) != "unknown" {
		t.Errorf("write: %v, want an indefinite error", err)
	}
	eventually(t, "the write to be there", func() bool { return b.sees(t, other, "reply", 2) })
	heal()
	eventually(t, "the client to be served again", func() bool { return b.sees(t, s, "reply", 2) })
}

func (b *bench) held(t *testing.T) {
	s, other := b.warm(t, "held")
	heal := b.set(t, cluster.Hold, cluster.Link{From: "c1", To: server})
	if err := s.Write(t.Context(), "held", stores.Write{Token: 3, Base: 1, Value: 2, N: 2}); outcome(err) == "ok" || outcome(err) == "rejected" {
		t.Errorf("write: %v, want an error that leaves it open", err)
	}
	if !b.sees(t, other, "held", 1) {
		t.Error("what is held on its way has arrived")
	}
	heal()
	eventually(t, "the client to be served again", func() bool { return read(t, s, "held", 3) == nil })
}

// warm returns two stores that have both been used: c1's gives up soon.
func (b *bench) warm(t *testing.T, resource string) (s, other stores.Store) {
	t.Helper()
	other = b.open(t, "c2", stores.Options{Check: stores.ChecksToken})
	if err := other.Write(t.Context(), resource, stores.Write{Token: 1, Value: 1, N: 1}); err != nil {
		t.Fatal(err)
	}
	s = b.open(t, "c1", stores.Options{Check: stores.ChecksToken, Timeout: short})
	eventually(t, "a first answer", func() bool { return read(t, s, resource, 2) == nil })
	return s, other
}

func (b *bench) sees(t *testing.T, s stores.Store, resource string, version int64) bool {
	t.Helper()
	state, err := s.Read(t.Context(), resource, 0)
	return err == nil && state.Version == version
}

func (b *bench) close(t *testing.T) {
	s := b.open(t, "c1", stores.Options{})
	if err := read(t, s, "close", 0); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(limit); !is(); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("%s didn't come in %v", what, limit)
		}
	}
}

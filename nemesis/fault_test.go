package nemesis

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/internal/wire"
)

var groups = [][]string{{"n1", "n2"}, {"n3", "n4", "n5", "clients"}}

// faults is one of each shape, with what it harms in a world where c2 holds the lock and c3 waits.
func faults() map[string]struct {
	fault  Fault
	harmed []string
} {
	type row = struct {
		fault  Fault
		harmed []string
	}
	return map[string]row{
		"pause the holder": {NewPause(of(Holder)), []string{"paused c2"}},
		"pause a waiter":   {NewPause(of(Waiter)), []string{"paused c3"}},
		"pause nodes":      {NewPause(Target{List: []string{"n1", "n4"}}), []string{"paused n1", "paused n4"}},
		"pause clients":    {NewPause(of(AllUsers)), []string{"paused c1", "paused c2", "paused c3"}},
		"kill a node":      {NewKill(KillSpec{Of: of("n3")}), []string{"dead n3", "down n3"}},
		"kill the holder":  {NewKill(KillSpec{Of: of(Holder)}), []string{"dead c2"}},
		"cut the holder off": {NewPartition(PartitionSpec{Of: of(Holder)}), []string{
			"c2>n1 hold", "c2>n2 hold", "c2>n3 hold", "c2>n4 hold", "c2>n5 hold",
			"n1>c2 hold", "n2>c2 hold", "n3>c2 hold", "n4>c2 hold", "n5>c2 hold"}},
		"cut a node off, its replies, refused": {NewPartition(PartitionSpec{Of: of("n1"), Direction: FromNodes, Mode: cluster.Refuse}), []string{
			"n1>c1 refuse", "n1>c2 refuse", "n1>c3 refuse"}},
		"groups, requests": {NewPartition(PartitionSpec{Groups: groups, Direction: ToNodes, Mode: cluster.Drop}), []string{
			"c1>n1 drop", "c1>n2 drop", "c2>n1 drop", "c2>n2 drop", "c3>n1 drop", "c3>n2 drop"}},
		"pause all nodes, and not the store": {NewPause(of(Nodes)), []string{"paused n1", "paused n2", "paused n3", "paused n4", "paused n5"}},
		"pause the store":                    {NewPause(of("store")), []string{"paused store"}},
		"kill the store":                     {NewKill(KillSpec{Of: of("store")}), []string{"dead store", "down store"}},
		"hold what a client sends to the store": {NewPartition(PartitionSpec{Groups: [][]string{{"c1"}, {"store"}}, Direction: ToNodes}), []string{
			"c1>store hold"}},
		"cut the store off": {NewPartition(PartitionSpec{Of: of("store"), Direction: FromNodes}), []string{
			"store>c1 hold", "store>c2 hold", "store>c3 hold"}},
		"slow client": {NewLatency(LatencySpec{Of: of("c1"), Latency: time.Second, Direction: ToNodes}), []string{
			"c1>n1 pass", "c1>n2 pass", "c1>n3 pass", "c1>n4 pass", "c1>n5 pass"}},
		"narrow client": {NewRate(RateSpec{Of: of("c1"), Bandwidth: 1000, Direction: FromNodes}), []string{
			"n1>c1 pass", "n2>c1 pass", "n3>c1 pass", "n4>c1 pass", "n5>c1 pass"}},
		"throttle a node": {NewThrottle(of("n2"), 0.001), []string{"paused n2"}}, // it stands still for the whole test
		"reset a waiter": {NewReset(of(Waiter)), []string{
			"c3>n1 refuse", "c3>n2 refuse", "c3>n3 refuse", "c3>n4 refuse", "c3>n5 refuse",
			"n1>c3 refuse", "n2>c3 refuse", "n3>c3 refuse", "n4>c3 refuse", "n5>c3 refuse"}},
	}
}

func TestInjectAndHeal(t *testing.T) {
	for name, tt := range faults() {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			w.holders, w.waiters = []string{"c2"}, []string{"c3"}
			ctx, cancel := context.WithCancel(context.Background())
			env := w.env()
			if err := tt.fault.Check(env); err != nil {
				t.Fatal(err)
			}
			var told []string
			env.Begin = func(targets []string, text string) {
				told = targets
				if h := w.harmed(); len(h) != 0 {
					t.Errorf("harmed before the fault was told: %v", h)
				}
			}
			injection, err := tt.fault.Inject(ctx, env)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.harmed, w.harmed()); diff != "" {
				t.Errorf("harmed (-want +got):\n%s", diff)
			}
			if len(told) == 0 || !slices.Equal(told, injection.Targets) {
				t.Errorf("told %v, targets %v", told, injection.Targets)
			}
			if injection.Text == "" || tt.fault.Text() == "" {
				t.Error("no text")
			}
			cancel()
			if err := injection.Heal(ctx); err == nil {
				t.Error("healing under a dead context reported success, though nothing could be done")
			}
			for range 2 { // a fresh context, twice
				if err := injection.Heal(context.Background()); err != nil {
					t.Fatal(err)
				}
				if left := w.harmed(); len(left) != 0 {
					t.Errorf("left after healing: %v", left)
				}
			}
		})
	}
}

func TestInjectUndoesWhatItDidWhenItFails(t *testing.T) {
	tests := []struct {
		name  string
		fault Fault
		fail  string
	}{
		{"pause", NewPause(Target{List: []string{"n1", "n2"}}), "pause n2"},
		{"kill", NewKill(KillSpec{Of: Target{List: []string{"n1", "n2"}}}), "kill n2"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld()
			w.fail[tt.fail] = errBroken
			if _, err := tt.fault.Inject(context.Background(), w.env()); !errors.Is(err, errBroken) {
				t.Fatalf("Inject() = %v", err)
			}
			if left := w.harmed(); len(left) != 0 {
				t.Errorf("left: %v", left)
			}
		})
	}
}

func TestCheckSaysWhatIsLacking(t *testing.T) {
	w := newWorld()
	memory := w.env()
	memory.Nodes = nil
	external := w.env()
	external.Nodes = []cluster.Node{plainNode{"n1"}, plainNode{"n2"}}
	forgetful := w.env()
	forgetful.Nodes = []cluster.Node{forgetfulNode{fakeNode{w, "n1"}}}
	wakeful := w.env()
	wakeful.Clients = wakefulClients{fakeClients{w, []string{"c1"}}}
	tests := []struct {
		name  string
		env   Env
		fault Fault
		want  string
	}{
		{"no power to kill", external, NewKill(KillSpec{Of: of("n1")}), "kill: node n1 (external) can't be killed"},
		{"no power to pause one of", external, NewPause(of(One)), "pause: node n1 (external) can't be paused"},
		{"partition in memory", memory, NewPartition(PartitionSpec{Of: of(Holder)}), "partition: there are no links"},
		{"latency in memory", memory, NewLatency(LatencySpec{Of: of(Holder), Latency: 1}), "latency: there are no links"},
		{"nodes in memory", memory, NewPause(of(Majority)), "there are no nodes"},
		{"unknown name", w.env(), NewPause(of("n9")), "there is no node or client n9"},
		{"unknown name in a group", w.env(), NewPartition(PartitionSpec{Groups: [][]string{{"n1"}, {"c9"}}}), "c9"},
		{"twice in groups", w.env(), NewPartition(PartitionSpec{Groups: [][]string{{"n1"}, {"n1", "c1"}}}), "n1 is in two groups"},
		{"groups without effect", w.env(), NewPartition(PartitionSpec{Groups: [][]string{{"n1"}, {"n2"}}}), "leaves every client with every node"},
		{"no minority", external, NewPause(of(Minority)), "minority: 2 nodes have none"},
		{"no target", w.env(), NewPause(Target{}), "no target"},
		{"direction", w.env(), NewPartition(PartitionSpec{Of: of("n1"), Direction: "up"}), `direction is "up"`},
		{"no latency", w.env(), NewLatency(LatencySpec{Of: of("n1")}), "more than 0"},
		{"restart that the node can't", forgetful, NewKill(KillSpec{Of: of("n1"), Restart: cluster.WithPrefix}), "kill: node n1: no disk"},
		{"no bandwidth", w.env(), NewRate(RateSpec{Of: of("n1")}), "more than 0"},
		{"rate in memory", memory, NewRate(RateSpec{Of: of(Holder), Bandwidth: 1}), "rate: there are no links"},
		{"ring of few", external, NewPartition(PartitionSpec{Of: of(All), Shape: Ring}), "needs 3 nodes"},
		{"ring of some", w.env(), NewPartition(PartitionSpec{Of: of(Majority), Shape: Ring}), "all nodes"},
		{"ring with a direction", w.env(), NewPartition(PartitionSpec{Of: of(All), Shape: Ring, Direction: ToNodes}), "no direction"},
		{"another shape", w.env(), NewPartition(PartitionSpec{Of: of(All), Shape: "star"}), `"star"`},
		{"message in memory", memory, NewMessage(MessageSpec{Of: of(Holder)}), "message: there are no links"},
		{"message of an unknown protocol", external, NewMessage(MessageSpec{Of: of(Holder)}), "nobody knows which protocol node n1 (external) speaks"},
		{"connection-kill in memory", memory, NewConnectionKill(of(Holder)), "connection-kill: there are no links"},
		{"nobody to ask", external, NewSessionExpire(of(Holder)), "session-expire: node n1 (external) can't be asked"},
		{"flush of a client", w.env(), NewFlush(of("c1")), "flush: c1 is a client"},
		{"black hole in memory", memory, NewBlackHole(of(Holder)), "black-hole: there are no links"},
		{"black hole elsewhere", external, NewBlackHole(of(Holder)), "black-hole: node n1 (external) isn't reached by loopback addresses"},
		{"share", w.env(), NewThrottle(of("n1"), 1.5), "less than 1"},
		{"no power to throttle", external, NewThrottle(of("n1"), 0.5), "throttle: node n1 (external) can't be paused"},
		{"reset in memory", memory, NewReset(of(Holder)), "reset: there are no links"},
		{"cancel of a node", w.env(), NewCancel(of("n1")), "cancel: n1 is a node"},
		{"failover without leaders", external, NewFailover(of("n1"), false), "failover: leader: these nodes (external) can't be asked"},
		{"failover in memory", memory, NewFailover(Target{}, false), "failover: leader: there are no nodes"},
		{"stall of a client", w.env(), NewStall(of("c1")), "stall: c1 is no node"},
		{"stall without a disk", external, NewStall(of("n1")), "stall: node n1 (external) has no disk"},
		{"no clock", w.env(), NewClock(ClockSpec{Of: of("n1")}), "clock: "},
		{"pause of the wakeful", wakeful, NewPause(of(Holder)), "pause: they share a process"},
		{"pause of the wakeful by chance", wakeful, NewRandom(AllUsers, []Maker{{"pause", func(of Target) Fault { return NewPause(of) }}}), "random: pause: they share a process"},
		{"restart", w.env(), NewKill(KillSpec{Of: of("n1"), Restart: "tomorrow"}), `restart is "tomorrow"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := tt.fault.Check(tt.env)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Check() = %v, want %q", err, tt.want)
			}
		})
	}
	if err := NewKill(KillSpec{Of: of(Holder)}).Check(external); err != nil {
		t.Errorf("killing clients on nodes without powers: %v", err)
	}
	if err := NewPause(of(Nodes)).Check(wakeful); err != nil {
		t.Errorf("pausing nodes whose clients can't be: %v", err)
	}
	before := w.env()
	before.Net = nil // as before the start
	if err := NewPartition(PartitionSpec{Groups: groups}).Check(before); err != nil {
		t.Errorf("before the start: %v", err)
	}
}

func TestTargets(t *testing.T) {
	w := newWorld()
	tests := []struct {
		of   string
		want int
	}{{One, 1}, {Minority, 2}, {Majority, 3}, {All, 5}, {Nodes, 5}, {AllUsers, 3}, {"c1", 1}}
	for _, tt := range tests {
		t.Run(tt.of, func(t *testing.T) {
			names, err := of(tt.of).pick(context.Background(), w.env())
			if err != nil || len(names) != tt.want {
				t.Errorf("picked %v (%v), want %d", names, err, tt.want)
			}
			if !slices.IsSorted(names) {
				t.Errorf("picked %v, want their order kept", names)
			}
		})
	}
}

func TestLiveTarget(t *testing.T) {
	t.Run("is waited for", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld()
			time.AfterFunc(1500*time.Millisecond, func() { w.hold("c3") })
			names, err := of(Holder).pick(t.Context(), w.env())
			if err != nil || !slices.Equal(names, []string{"c3"}) {
				t.Errorf("picked %v, %v", names, err)
			}
		})
	})
	t.Run("for two seconds", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			_, err := of(Waiter).pick(t.Context(), newWorld().env())
			if !errors.Is(err, ErrNoTarget) || time.Since(began) != targetLimit {
				t.Errorf("after %v: %v", time.Since(began), err)
			}
		})
	})
	t.Run("is the one whose step triggered the fault", func(t *testing.T) {
		w := newWorld()
		w.hold("c1", "c2", "c3")
		env := w.env()
		for _, c := range []string{"c3", "c1", "c2"} {
			env.Event = &Event{Kind: Acquired, Client: c}
			names, err := of(Holder).pick(context.Background(), env)
			if err != nil || !slices.Equal(names, []string{c}) {
				t.Errorf("after a step of %s: picked %v, %v", c, names, err)
			}
		}
	})
}

func TestTexts(t *testing.T) {
	tests := []struct {
		fault Fault
		want  string
	}{
		{NewPause(of(Holder)), "pause the holder"},
		{NewPause(Target{List: []string{"n1", "n2", "c1"}}), "pause n1, n2 and c1"},
		{NewKill(KillSpec{Of: of(Minority), Restart: cluster.Empty}), "kill a minority of the nodes, restarted without data"},
		{NewPartition(PartitionSpec{Of: of(Majority)}), "cut a majority of the nodes off"},
		{NewPartition(PartitionSpec{Of: of(Waiter), Direction: FromNodes, Mode: cluster.Drop}), "cut a waiter off (replies only, drop)"},
		{NewPartition(PartitionSpec{Groups: groups}), "cut {n1, n2} from {n3, n4, n5, clients}"},
		{NewThrottle(of("n1"), 0.25), "leave n1 25 % of the time"},
		{NewRate(RateSpec{Of: of("n1"), Bandwidth: 1_500_000}), "narrow the links of n1 to 1.5 MB/s"},
		{NewRate(RateSpec{Of: of("n1"), Bandwidth: 20_000, Direction: ToNodes}), "narrow the links of n1 to 20 kB/s (requests only)"},
		{NewRate(RateSpec{Of: of("n1"), Bandwidth: 999}), "narrow the links of n1 to 999 B/s"},
		{NewPartition(PartitionSpec{Of: of(All), Shape: Ring}), "cut all nodes and clients into a ring of majorities"},
		{NewPause(of(Replica)), "pause a replica"},
		{message(wire.Drop, wire.Reply, "SET", 1), "drop the reply to SET of the holder, the 1st one"},
		{message(wire.Delay, wire.Request, "", 2), "delay the request of the holder by 1s, the 2nd one"},
		{message(wire.Hold, wire.Request, "create", 0), "hold back the request create of the holder, each"},
		{message(wire.Reset, wire.Push, "", 13), "reset the connection before the event of the holder, the 13th one"},
		{message(wire.Reset, wire.Reply, "", 23), "reset the connection before the reply to a request of the holder, the 23rd one"},
		{NewConnectionKill(of(Holder)), "end the connections of the holder from the server's side"},
		{NewSessionExpire(of("c2")), "end the sessions of c2 from the server's side"},
		{NewFlush(of(One)), "flush one node"},
		{NewEvict(of(All)), "evict every key of all nodes"},
		{NewBlackHole(of(Holder)), "lose all packets of the holder"},
		{NewReset(of(Holder)), "reset the connections of the holder"},
		{NewCancel(of(Waiter)), "cancel the call of a waiter"},
		{NewClock(ClockSpec{Of: of(Majority), Jump: 20 * time.Second}), "set the wall clock of a majority of the nodes ahead by 20s"},
		{NewClock(ClockSpec{Of: of("n1"), Jump: -time.Second, Rate: 1.5, Clock: Monotonic}), "set the monotonic clock of n1 back by 1s and run it at 1.5 times its rate"},
		{NewClock(ClockSpec{Of: of("n1"), Freeze: true}), "freeze the wall clock of n1"},
		{NewLatency(LatencySpec{Of: of(AllUsers), Latency: time.Second, Jitter: time.Millisecond}), "delay the links of all clients by 1s ± 1ms"},
	}
	for _, tt := range tests {
		if got := tt.fault.Text(); got != tt.want {
			t.Errorf("Text() = %q, want %q", got, tt.want)
		}
	}
}

func message(deed wire.Deed, kind wire.Kind, match string, nth int) Fault {
	return NewMessage(MessageSpec{Of: of(Holder), Rule: cluster.MessageRule{Deed: deed, Kind: kind, Match: match, Nth: nth, By: time.Second}})
}

// A cancel reaches the calls of those who wait and nobody else's, and leaves nothing to heal.
func TestCancel(t *testing.T) {
	w := newWorld()
	w.waiters = []string{"c1", "c3"}
	env := w.env()
	env.Event = &Event{Kind: Waiting, Client: "c3"}
	f := NewCancel(of(Waiter))
	if err := f.Check(env); err != nil {
		t.Fatal(err)
	}
	i, err := f.Inject(context.Background(), env)
	if err != nil {
		t.Fatal(err)
	}
	if got := []int{w.count("cancel c1"), w.count("cancel c3")}; !slices.Equal(got, []int{0, 1}) || !slices.Equal(i.Targets, []string{"c3"}) {
		t.Errorf("cancelled %v, targets %v", got, i.Targets)
	}
	if err := i.Heal(context.Background()); err != nil || len(w.harmed()) > 0 {
		t.Errorf("healing: %v, left: %v", err, w.harmed())
	}
	if _, err := i.Result(); err != nil {
		t.Errorf("a call was cancelled, and the result is %v", err)
	}
	for name, want := range map[string]error{"c2": ErrNoTarget, AllUsers: nil} { // of all, two have calls
		i, err := NewCancel(of(name)).Inject(context.Background(), env)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := i.Result(); !errors.Is(err, want) {
			t.Errorf("cancel the calls of %s: the result is %v, want %v", name, err, want)
		}
	}
}

// Who is seen to wait and has no call open is passed over for another, and no fault is told for it.
func TestCancelChoosesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.waiters, w.idle = []string{"c1", "c2", "c3"}, map[string]bool{"c1": true, "c2": true}
		env := w.env()
		var told [][]string
		env.Begin = func(targets []string, _ string) { told = append(told, targets) }
		for range 20 {
			told = nil
			i, err := NewCancel(of(Waiter)).Inject(context.Background(), env)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := i.Result(); err != nil || len(told) != 1 || !slices.Equal(told[0], []string{"c3"}) {
				t.Errorf("told %v, result %v", told, err)
			}
		}
		w.idle["c3"], told = true, nil
		i, err := NewCancel(of(Waiter)).Inject(context.Background(), env)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := i.Result(); !errors.Is(err, ErrNoTarget) || len(told) != 1 {
			t.Errorf("nobody has a call open: told %v, result %v", told, err)
		}
	})
}

// A random fault is of the kinds and on those that it names, the same for the same seed, and heals as what it chose.
func TestRandom(t *testing.T) {
	makers := []Maker{{"pause", func(of Target) Fault { return NewPause(of) }}, {"kill", func(of Target) Fault { return NewKill(KillSpec{Of: of}) }}}
	drawn := func(seed uint64, on string) []string {
		w := newWorld()
		env := w.env()
		env.Rand = rand.New(rand.NewPCG(seed, 1))
		f := NewRandom(on, makers)
		if err := f.Check(env); err != nil {
			t.Fatal(err)
		}
		var out []string
		for range 40 {
			i, err := f.Inject(context.Background(), env)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, i.Text)
			if err := i.Heal(context.Background()); err != nil || len(w.harmed()) > 0 {
				t.Fatalf("healing: %v, left: %v", err, w.harmed())
			}
		}
		return out
	}
	for on, letter := range map[string]string{Nodes: "n", AllUsers: "c"} {
		a := drawn(1, on)
		if !slices.Equal(a, drawn(1, on)) || slices.Equal(a, drawn(2, on)) {
			t.Errorf("%s: the draw doesn't follow the seed", on)
		}
		all := strings.Join(a, "; ")
		if !strings.Contains(all, "pause "+letter) || !strings.Contains(all, "kill "+letter) {
			t.Errorf("%s: drawn %s", on, all)
		}
	}
	w := newWorld()
	none := w.env()
	none.Nodes = nil
	for name, f := range map[string]*Random{"no nodes": NewRandom(Nodes, makers), "no kind": NewRandom(AllUsers, nil),
		"a kind that can't": NewRandom(AllUsers, []Maker{{"throttle", func(of Target) Fault { return NewThrottle(of, 2) }}})} {
		if f.Check(none) == nil {
			t.Errorf("%s: it is not refused", name)
		}
	}
}

// A run that ends just as a fault begins leaves it either in effect, and healable, or undone.
func TestRunEndsAsAFaultBegins(t *testing.T) {
	for name, tt := range faults() {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			w.holders, w.waiters = []string{"c2"}, []string{"c3"}
			ctx, cancel := context.WithCancel(context.Background())
			env := w.env()
			env.Begin = func([]string, string) { cancel() }
			if i, err := tt.fault.Inject(ctx, env); err == nil {
				if err := i.Heal(context.Background()); err != nil {
					t.Fatal(err)
				}
			}
			if left := w.harmed(); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
		})
	}
}

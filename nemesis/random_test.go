package nemesis_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/history"
	"github.com/locktest/locktest/nemesis"
)

// diary keeps what was recorded.
type diary struct {
	began time.Time
	mu    sync.Mutex
	ops   []history.Op
}

func (d *diary) Since(t time.Time) time.Duration { return t.Sub(d.began) }
func (d *diary) Record(op history.Op) history.Op {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ops = append(d.ops, op)
	return op
}

// Many faults of every kind overlap on real servers and links. When Run returns, each client reaches each node again, and
// what began has ended in the history.
func TestRandomFaultsOnRealServersLeaveNothingBehind(t *testing.T) {
	for seed := range uint64(3) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			b := newBench(t, nil)
			window := nemesis.Window{Until: 2500 * time.Millisecond}
			plans, err := nemesis.Lay(randomEntries(rand.New(rand.NewPCG(seed, 5)), 30, window.Until), seed, window)
			check(t, err)
			ctx, cancel := context.WithTimeout(b.ctx, window.Until)
			defer cancel()
			d := &diary{began: time.Now()}
			if err := nemesis.Run(ctx, b.env, plans, d); err != nil {
				t.Fatal(err)
			}
			for _, c := range []string{"c1", "c2"} {
				for _, n := range []string{"n1", "n2"} {
					if err := b.client(c, n).Ping(b.ctx).Err(); err != nil {
						t.Errorf("%s doesn't reach %s: %v", c, n, err)
					}
				}
			}
			d.wantClosed(t, len(plans))
		})
	}
}

func randomEntries(r *rand.Rand, n int, until time.Duration) []nemesis.Entry {
	nodes := []string{"n1", "n2", nemesis.One, nemesis.All}
	anybody := append(nodes, "c1", "c2", nemesis.AllUsers)
	modes := []cluster.Mode{cluster.Hold, cluster.Drop, cluster.Refuse}
	directions := []string{nemesis.BothWays, nemesis.ToNodes, nemesis.FromNodes}
	entries := make([]nemesis.Entry, n)
	for i := range entries {
		node, any, direction := target(nodes[r.IntN(len(nodes))]), target(anybody[r.IntN(len(anybody))]), directions[r.IntN(3)]
		faults := []nemesis.Fault{
			nemesis.NewPause(node),
			nemesis.NewKill(nemesis.KillSpec{Of: node, Restart: cluster.Empty}),
			nemesis.NewPartition(nemesis.PartitionSpec{Of: any, Direction: direction, Mode: modes[r.IntN(3)]}),
			nemesis.NewLatency(nemesis.LatencySpec{Of: any, Direction: direction, Latency: 20 * time.Millisecond, Jitter: 10 * time.Millisecond}),
		}
		begin := time.Duration(r.Int64N(int64(until)))
		entries[i] = nemesis.Entry{
			Fault:   faults[r.IntN(len(faults))],
			Trigger: nemesis.Trigger{At: &nemesis.Range{Min: begin, Max: begin}},
			For:     nemesis.Range{Min: 50 * time.Millisecond, Max: time.Second},
		}
	}
	return entries
}

// wantClosed wants each occurrence to have begun and ended, or to have been missed. One whose target died in the moment in which
// it began is there again, for another target.
func (d *diary) wantClosed(t *testing.T, occurrences int) {
	t.Helper()
	open, seen, began := map[int]bool{}, map[int]bool{}, 0
	for _, op := range d.ops {
		seen[op.Fault] = true // each occurs once
		switch op.Type {
		case history.FaultBegin:
			began++
			open[op.Process] = true
		case history.FaultEnd:
			if !open[op.Process] {
				t.Errorf("an end without a begin: %+v", op)
			}
			delete(open, op.Process)
		}
	}
	if len(open) != 0 || len(seen) != occurrences {
		t.Errorf("%d occurrences have no end; %d of %d were recorded", len(open), len(seen), occurrences)
	}
	if began < occurrences/2 {
		t.Errorf("%d of %d began", began, occurrences)
	}
}

package runner

import (
	"context"
	"sync"
	"time"

	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/history"
)

// How often the clocks of the nodes are read, and how long a reading may take: half of that is the error of what it says.
const (
	offsetEvery = 3 * time.Second
	offsetLimit = 200 * time.Millisecond
)

// measureOffsets reads the clock of each node that tells it, past every link, until ctx ends. A node that is down or stands
// still is left out.
func (r *run) measureOffsets(ctx context.Context) {
	if r.cluster == nil {
		return
	}
	t := time.NewTicker(offsetEvery)
	defer t.Stop()
	for {
		r.readClocks(ctx)
		select {
		case <-t.C:
		case <-ctx.Done():
			return
		}
	}
}

func (r *run) readClocks(ctx context.Context) {
	var wg sync.WaitGroup
	for _, n := range r.cluster.Nodes() {
		c, ok := n.(cluster.Clocked)
		if !ok || c.HasTime() != nil {
			continue
		}
		wg.Go(func() {
			if offset, ok := offsetOf(ctx, c); ok {
				teller{r}.Record(history.Op{Type: history.ClockOffset, Name: n.Name(), Offset: offset})
			}
		})
	}
	wg.Wait()
}

// offsetOf is how far a node's clock is ahead of this process's, taken at the middle of the question's way there and back.
func offsetOf(ctx context.Context, c cluster.Clocked) (offset time.Duration, ok bool) {
	ctx, cancel := context.WithTimeout(ctx, offsetLimit)
	defer cancel()
	asked := time.Now()
	there, err := c.Time(ctx)
	took := time.Since(asked)
	if err != nil || took > offsetLimit {
		return 0, false
	}
	return there.Sub(asked.Add(took / 2)), true
}

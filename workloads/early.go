package workloads

import (
	"context"

	"github.com/locktest/locktest/history"
)

// snapshot is what a resource said before the lock was asked for.
type snapshot struct {
	version, n int64
	job        int
}

// lookEarly reads the resource without a lock, where the scenario wants that mistake: what is read may be old when the lock
// is granted, and nobody looks again.
func (w *Worker) lookEarly(ctx context.Context, lock string) *snapshot {
	res := w.shared.Resources[lock]
	if !w.config.Early || res == nil {
		return nil
	}
	op := w.begin(history.Op{F: history.Read, Resource: res.Name(), Lock: lock})
	s := &snapshot{job: res.nextJob()}
	if res.stored() {
		s.version, s.n, _ = w.fetch(ctx, op)
		return s
	}
	s.version, s.n, _ = res.Read(op)
	return s
}

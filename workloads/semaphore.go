package workloads

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/locktest/locktest/history"
)

// Semaphore holds some permits and does nothing else. Now and then it releases a second time, which has to free nobody
// else's permits. At the end each client takes all permits, one by one, and one more, which has to be refused: what leaked
// or appeared shows then.
type Semaphore struct{}

// Name of the workload.
func (Semaphore) Name() string { return "semaphore" }

// UsesResource is false.
func (Semaphore) UsesResource() bool { return false }

// secondRelease is the share of holds that are released twice.
const secondRelease = 0.1

// Section holds, and may release on its own first.
func (Semaphore) Section(ctx context.Context, s *Section) error {
	held, err := s.Hold(ctx, s.HoldTime())
	if !held || err != nil || s.worker.rand.Float64() >= secondRelease {
		return err
	}
	return s.worker.release(ctx, s.hold)
}

func (Semaphore) ask(c Config, rnd *rand.Rand) (mode string, permits int) {
	if c.Permits <= 1 {
		return "", c.Permits
	}
	return "", 1 + rnd.IntN(c.Permits)
}

func (Semaphore) drain(ctx context.Context, w *Worker, lock string, wait time.Duration) error {
	return w.fill(ctx, lock, max(1, w.shared.Contracts[lock].Permits), wait)
}

// fill takes left permits one within the other, and then asks for one more at once.
func (w *Worker) fill(ctx context.Context, lock string, left int, wait time.Duration) error {
	if left == 0 {
		return w.once(ctx, ask{lock: lock, permits: 1}, 0, noWork)
	}
	return w.once(ctx, ask{lock: lock, permits: 1}, wait, func(ctx context.Context, s *Section) error {
		return w.fill(ctx, lock, left-1, wait)
	})
}

func noWork(context.Context, *Section) error { return nil }

// RWLock reads in shared mode, and in exclusive mode reads, thinks and writes.
type RWLock struct{}

// Name of the workload.
func (RWLock) Name() string { return "rwlock" }

// UsesResource is true.
func (RWLock) UsesResource() bool { return true }

// Section of a reader only reads. Where the resource checks tokens it doesn't even do that: readers hold at the same time,
// and one of them has the lower token.
func (RWLock) Section(ctx context.Context, s *Section) error {
	if s.hold.mode != history.Shared {
		return readHoldWrite(ctx, s, func(_, grant int64) int64 { return grant })
	}
	if s.resource().check != history.ChecksToken {
		if _, _, ok := s.Read(ctx); !ok {
			return nil
		}
	}
	_, err := s.Hold(ctx, s.HoldTime())
	return err
}

func (RWLock) ask(c Config, rnd *rand.Rand) (mode string, permits int) {
	if rnd.Float64() < c.Readers {
		return history.Shared, 0
	}
	return history.Exclusive, 0
}

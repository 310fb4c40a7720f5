package locks

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"
)

// What several providers need.

// DriftFactor is the share of a lease that is given up for clocks that run at different rates, as in the Redlock algorithm
// (redis.io, "Distributed Locks with Redis").
const DriftFactor = 0.01

// Drift is that share of ttl.
func Drift(ttl time.Duration) time.Duration { return time.Duration(DriftFactor * float64(ttl)) }

// Owner makes a value that tells one acquire from every other.
func (t Target) Owner() string { return fmt.Sprintf("%s-%016x", t.Client, t.Rand.Uint64()) }

// Jitter draws a pause of half to one and a half of mean.
func Jitter(r *rand.Rand, mean time.Duration) time.Duration {
	return mean/2 + time.Duration(r.Int64N(int64(mean)+1))
}

// Sleep waits for d or until ctx ends, and says whether d passed.
func Sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// NewFree is a grant of nothing, of what claims no exclusion.
func NewFree(owner string) Lock { return free{owner} }

type free struct{ owner string }

func (f free) Owner() string                 { return f.owner }
func (f free) Token() Token                  { return 0 }
func (f free) TTL() time.Duration            { return 0 }
func (f free) ValidUntil() time.Time         { return time.Time{} }
func (f free) Lost() <-chan struct{}         { return nil }
func (f free) Release(context.Context) error { return nil }

package redis

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/locktest/locktest/locks"
)

// poll tries until the lock is no longer held by somebody else or r.Wait has passed, with a pause of half to one and a half
// of mean between two tries. What a try can't say for certain ends it: to ask again could be to be refused by oneself.
func poll(ctx context.Context, r locks.Request, rnd *rand.Rand, mean time.Duration, try func(context.Context, locks.Request) (locks.Lock, error)) (locks.Lock, error) {
	deadline := time.Now().Add(r.Wait)
	for {
		lock, err := try(ctx, r)
		if !errors.Is(err, locks.ErrHeld) {
			return lock, err
		}
		pause := locks.Jitter(rnd, mean)
		if time.Now().Add(pause).After(deadline) || !locks.Sleep(ctx, pause) {
			return nil, locks.ErrHeld
		}
	}
}

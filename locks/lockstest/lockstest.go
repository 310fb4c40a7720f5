// Package lockstest is the conformance kit of locks: what every provider has to do, and each of its claims, tested on a
// healthy server and on one that can't be reached. It knows no provider.
package lockstest

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/locktest/locktest/history"
	"github.com/locktest/locktest/locks"
)

// Kit is a provider on its servers, for one test.
type Kit struct {
	Provider locks.Provider
	Addrs    []string
	TTL      time.Duration // of leases; as short as the service allows
	// Prefix begins the names of locks; with one of its own each test can have free locks on servers that others have used.
	Prefix string
}

// seed is another one for each prefix: clients on the same servers are not to draw the same owner values.
func (k Kit) seed() uint64 {
	h := fnv.New64a()
	h.Write([]byte(k.Prefix))
	return h.Sum64()
}

// Run tests a provider. open makes a kit whose locks are all free; it cleans up by t.
func Run(t *testing.T, open func(t *testing.T) Kit) {
	for name, test := range map[string]func(*testing.T, *bench){
		"a free lock is granted":                      grantsFree,
		"a held lock is refused":                      refusesHeld,
		"a waiter gets it after the release":          waiterGets,
		"a wait ends":                                 waitEnds,
		"a second release is not held":                releaseTwice,
		"a cancelled waiter leaves nothing":           cancelledWaiter,
		"owners are unique":                           ownersUnique,
		"tokens rise with grants":                     tokensRise,
		"names are apart":                             namesApart,
		"close releases nothing":                      closeReleasesNothing,
		"a closed client asks for nothing more":       closedAsksNothing,
		"a session's end frees its locks":             sessionEnds,
		"a lease ends by itself":                      leaseEnds,
		"a late release frees nobody else's lock":     lateRelease,
		"an extended lease lasts":                     extendLasts,
		"an ended lease can't be extended":            extendEnded,
		"loss is told":                                lossTold,
		"one at a time":                               oneAtATime,
		"an unreachable service is no refusal":        unreachable,
		"an unknown acquire can be cleaned up":        unknownAcquire,
		"a release without an answer can be repeated": releaseAgain,
		"readers share and a writer doesn't":          readersShare,
		"permits are counted":                         permitsCount,
		"a second release frees no other permit":      permitTwice,
		"the holder takes it again":                   holderAgain,
		"renewal keeps a lease and ends with it":      renewalKeeps,
	} {
		t.Run(name, func(t *testing.T) {
			decide(t, open(t), test)
		})
	}
}

// bench is what a test works with.
type bench struct {
	t      *testing.T
	kit    Kit
	claims locks.Claims
	seed   uint64
}

// limit is far above what anything here takes: a hang fails, a slow machine doesn't.
const limit = 30 * time.Second

func (b *bench) context() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	b.t.Cleanup(cancel)
	return ctx
}

// user is a client and the gate that its connections pass.
type user struct {
	locks.Client
	gate *gate
}

func (b *bench) user(name string) *user {
	b.t.Helper()
	b.seed++
	g := &gate{}
	c, err := b.kit.Provider.Open(b.context(), locks.Target{Client: name, Addrs: b.kit.Addrs, Dial: g.dial, Rand: rand.New(rand.NewPCG(b.kit.seed(), b.seed)), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.t.Fatalf("open %s: %v", name, err)
	}
	b.t.Cleanup(func() { c.Close() })
	return &user{c, g}
}

func (b *bench) request(wait time.Duration) locks.Request {
	return locks.Request{Name: b.kit.Prefix + "orders", TTL: b.kit.TTL, Wait: wait, Permits: b.claims.Permits} // all of a semaphore
}

func (b *bench) acquire(c locks.Client, wait time.Duration) locks.Lock {
	b.t.Helper()
	l, err := b.insist(b.context(), c, wait)
	if err != nil {
		b.t.Fatalf("acquire: %v", err)
	}
	return l
}

// refused wants c to be refused what held keep from it, all of them together.
func (b *bench) refused(c locks.Client, when string, held ...locks.Lock) {
	b.t.Helper()
	b.refusedRequest(c, b.request(0), when, held...)
}

func (b *bench) refusedRequest(c locks.Client, r locks.Request, when string, held ...locks.Lock) {
	b.t.Helper()
	if b.claims.NonExclusive {
		return
	}
	ctx := b.context()
	l, err := b.ask(ctx, c, r)
	for late(err) && !locks.Definite(err) && ctx.Err() == nil { // whether it was refused nobody knows
		if l != nil {
			cleanUp(ctx, l)
		}
		l, err = b.ask(ctx, c, r)
	}
	if errors.Is(err, locks.ErrHeld) && l == nil {
		return
	}
	b.lasts(held...)
	b.t.Errorf("acquire %s: got %v, %v; want no lock and ErrHeld", when, l, err)
}

// late says whether a server took too long to answer.
func late(err error) bool {
	var t interface{ Timeout() bool }
	return errors.As(err, &t) && t.Timeout()
}

func (b *bench) release(l locks.Lock) {
	b.t.Helper()
	err := l.Release(b.context())
	if errors.Is(err, locks.ErrNotHeld) {
		b.lasts(l)
	}
	if err != nil {
		b.t.Fatalf("release: %v", err)
	}
}

// leases says whether the lock has leases; a test of what it doesn't claim has nothing to do.
func (b *bench) leases() bool { return b.claims.Expiry == history.Lease }

func grantsFree(t *testing.T, b *bench) {
	before := time.Now()
	l := b.acquire(b.user("c1"), 0)
	if l.Owner() == "" {
		t.Error("the grant has no owner")
	}
	if got := l.Token() != 0; got != (b.claims.Tokens != history.NoTokens) {
		t.Errorf("token %d, claimed: %s", l.Token(), b.claims.Tokens)
	}
	if got := !l.ValidUntil().IsZero(); got != b.claims.Validity {
		t.Errorf("valid until %v, reports validity: %v", l.ValidUntil(), b.claims.Validity)
	}
	if b.leases() && l.TTL() != b.claims.TTL {
		t.Errorf("TTL %v, claimed %v", l.TTL(), b.claims.TTL)
	}
	if until := l.ValidUntil(); b.claims.Validity && (!until.After(before) || until.After(time.Now().Add(l.TTL()))) {
		t.Errorf("valid until %v after the call, of a TTL of %v", until.Sub(before), l.TTL())
	}
	b.release(l)
	b.release(b.acquire(b.user("c2"), 0))
}

func refusesHeld(_ *testing.T, b *bench) {
	l := b.acquire(b.user("c1"), 0)
	b.refused(b.user("c2"), "of a held lock", l)
}

func releaseTwice(t *testing.T, b *bench) {
	l := b.acquire(b.user("c1"), 0)
	b.release(l)
	if err := l.Release(b.context()); b.claims.ReleaseHeld && !errors.Is(err, locks.ErrNotHeld) {
		t.Errorf("the second release: %v, want ErrNotHeld", err)
	}
}

func ownersUnique(t *testing.T, b *bench) {
	seen := map[string]bool{}
	for range 3 {
		for _, name := range []string{"c1", "c2"} {
			l := b.acquire(b.user(name), 0)
			if seen[l.Owner()] {
				t.Errorf("owner %q twice", l.Owner())
			}
			seen[l.Owner()] = true
			b.release(l)
		}
	}
}

func tokensRise(t *testing.T, b *bench) {
	if b.claims.Tokens != history.PerGrant {
		return
	}
	c1, c2, last := b.user("c1"), b.user("c2"), locks.Token(0)
	for i := range 10 {
		l := b.acquire([]locks.Client{c1, c2}[i%2], 0)
		if l.Token() <= last {
			t.Errorf("token %d after %d", l.Token(), last)
		}
		last = l.Token()
		b.release(l)
	}
}

func namesApart(t *testing.T, b *bench) {
	c1 := b.user("c1")
	b.acquire(c1, 0)
	other := b.request(0)
	other.Name = b.kit.Prefix + "orders-2"
	if _, err := b.ask(b.context(), c1, other); err != nil {
		t.Errorf("another name: %v", err)
	}
}

// sessionEnds breaks the holder's connections from its own side, and closes another holder.
func sessionEnds(_ *testing.T, b *bench) {
	if b.claims.Expiry != history.Session || len(b.kit.Addrs) == 0 {
		return
	}
	c1, c2 := b.user("c1"), b.user("c2")
	b.acquire(c1, 0)
	c1.gate.sever()
	b.acquire(c2, limit)
	c2.Close()
	b.release(b.acquire(b.user("c3"), limit))
}

func leaseEnds(t *testing.T, b *bench) {
	if !b.leases() {
		return
	}
	l := b.acquire(b.user("c1"), 0)
	b.acquire(b.user("c2"), limit)
	if early := time.Until(l.ValidUntil()); early > 0 {
		t.Errorf("granted again %v before the lease of the first had ended", early)
	}
}

func lateRelease(t *testing.T, b *bench) {
	if !b.leases() || !b.claims.OwnerChecked {
		return
	}
	late := b.acquire(b.user("c1"), 0)
	next := b.acquire(b.user("c2"), limit)
	if err := late.Release(b.context()); b.claims.ReleaseHeld && !errors.Is(err, locks.ErrNotHeld) {
		t.Errorf("late release: %v, want ErrNotHeld", err)
	}
	b.refused(b.user("c3"), "after a late release by another", next)
}

func lossTold(t *testing.T, b *bench) {
	c := b.user("c1")
	l := b.acquire(c, 0)
	if !b.claims.TellsLoss {
		if l.Lost() != nil {
			t.Error("it can tell of a loss, and doesn't claim so")
		}
		return
	}
	if b.claims.Expiry == history.Session {
		c.gate.sever()
	}
	select {
	case <-l.Lost():
		if early := time.Until(l.ValidUntil()); early > 0 {
			t.Errorf("told %v before the lease ended", early)
		}
	case <-time.After(limit):
		t.Errorf("not told within %v of an end after %v", limit, b.kit.TTL)
	}
}

// ask acquires, and asks again where a busy machine's server was late with taking the connection: nothing was sent then, and
// nothing is known of the lock. A server that refuses to connect is an answer.
func (b *bench) ask(ctx context.Context, c locks.Client, r locks.Request) (locks.Lock, error) {
	for {
		l, err := c.Acquire(ctx, r)
		if !errors.Is(err, locks.ErrUnavailable) || !late(err) || ctx.Err() != nil {
			return l, err
		}
	}
}

// insist acquires, cleaning up after answers that are unknown: on a machine that is busy a server may be late.
func (b *bench) insist(ctx context.Context, c locks.Client, wait time.Duration) (locks.Lock, error) {
	for {
		l, err := b.ask(ctx, c, b.request(wait))
		if k, ok := l.(locks.Renewing); ok && err == nil {
			k.PauseRenewal(true) // what is tested here is the lease
		}
		if err == nil || locks.Definite(err) || ctx.Err() != nil {
			return l, err
		}
		if l != nil {
			cleanUp(ctx, l)
		}
	}
}

// cleanUp releases what an acquire may have left whose answer is unknown.
func cleanUp(ctx context.Context, l locks.Lock) {
	for err := l.Release(ctx); err != nil && !errors.Is(err, locks.ErrNotHeld) && ctx.Err() == nil; {
		err = l.Release(ctx)
	}
}

func oneAtATime(t *testing.T, b *bench) {
	var grants atomic.Int64
	var wg sync.WaitGroup
	var inside holders
	for i := range 4 {
		c := b.user(fmt.Sprintf("c%d", i+1))
		ctx := b.context()
		wg.Go(func() {
			for range 10 {
				l, err := b.insist(ctx, c, limit)
				if err != nil {
					t.Errorf("acquire: %v", err)
					return
				}
				if other := inside.enter(l); other != nil && !b.claims.NonExclusive {
					t.Errorf("%s was granted it while %s held it", l.Owner(), other.Owner())
				}
				grants.Add(1)
				inside.leave(l)
				if err := l.Release(ctx); errors.Is(err, locks.ErrHeld) || errors.Is(err, locks.ErrUnavailable) {
					t.Errorf("release: %v", err)
				}
			}
		})
	}
	wg.Wait()
	if grants.Load() != 40 {
		t.Errorf("%d grants, want 40", grants.Load())
	}
}

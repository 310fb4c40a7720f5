package lockstest

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/locktest/locktest/locks"
)

// tries is how often a test is begun anew that could decide nothing, each time with twice the lease.
const tries = 8

// undecided ends a try in which a lease ended before what it was to show: on a machine that is busy anything may take longer.
type undecided struct{}

// decide runs a test until it has decided something.
func decide(t *testing.T, kit Kit, test func(*testing.T, *bench)) {
	t.Helper()
	for range tries {
		if try(t, &bench{t: t, kit: kit, claims: kit.Provider.Claims(kit.TTL)}, test) || t.Failed() {
			return
		}
		kit.TTL, kit.Prefix = 2*kit.TTL, kit.Prefix+"again-"
	}
	t.Fatalf("nothing is decided after %d tries: leases of %v end too early on this machine", tries, kit.TTL/2)
}

func try(t *testing.T, b *bench, test func(*testing.T, *bench)) (decided bool) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case undecided:
			t.Logf("leases of %v ended too early", b.kit.TTL)
			decided = false
		default:
			panic(r)
		}
	}()
	test(t, b)
	return true
}

// lasts ends the try where one of held may have ended: what is being looked at is no mistake then.
func (b *bench) lasts(held ...locks.Lock) {
	if slices.ContainsFunc(held, over) {
		panic(undecided{})
	}
}

// over says whether a grant has ended, as far as its client can know.
func over(l locks.Lock) bool {
	select {
	case <-l.Lost(): // nil, and so never ready, where the lock can't tell
		return true
	default:
		return !l.ValidUntil().IsZero() && !time.Now().Before(l.ValidUntil())
	}
}

// holders are the grants that are held now.
type holders struct {
	mu  sync.Mutex
	all []locks.Lock
}

// enter returns another that lasts, if there is one, though l, which lasts too, was granted.
func (h *holders) enter(l locks.Lock) (other locks.Lock) {
	h.mu.Lock()
	defer h.mu.Unlock()
	i := slices.IndexFunc(h.all, func(o locks.Lock) bool { return !over(o) })
	if i >= 0 && !over(l) {
		other = h.all[i]
	}
	h.all = append(h.all, l)
	return other
}

func (h *holders) leave(l locks.Lock) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.all = slices.DeleteFunc(h.all, func(o locks.Lock) bool { return o == l })
}

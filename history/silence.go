package history

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// silenceText tells a death that is presumed from one that was seen.
const silenceText = "nothing later is known of it"

// silence is what is known of a client that may not be heard of again.
type silence struct {
	last   time.Duration         // its last event
	called time.Duration         // its last call
	leases map[int]time.Duration // when those end that it neither gave back nor lost, by grant; 0: nobody knows
}

// silent presumes dead whoever was granted a lease, neither gave it back nor lost it, and has no later event than the end
// of that lease, as long as it may have believed in it: that it went on as a holder is nowhere to be seen, and a holder
// that died without a word is the commonest reason. Its lease is in force as before until it ends. f.h.Ops are in the
// order of time.
func (f *foreign) silent() {
	if len(f.h.Ops) == 0 || f.c.Expiry != Lease || f.c.Background {
		return
	}
	clients := map[string]*silence{}
	for i := range f.h.Ops {
		o := &f.h.Ops[i]
		c := clients[o.Client]
		if c == nil {
			c = &silence{leases: map[int]time.Duration{}}
			clients[o.Client] = c
		}
		c.event(o, &f.c)
	}
	end := f.h.Ops[len(f.h.Ops)-1].Time
	for _, name := range slices.Sorted(maps.Keys(clients)) {
		if at, ok := clients[name].since(); ok && at < end {
			f.h.Ops = append(f.h.Ops, Op{Time: at, Client: name, Type: Crash, Text: silenceText})
		}
	}
}

func (s *silence) event(o *Op, c *Contract) {
	s.last = o.Time
	switch {
	case o.Type == Crash:
		clear(s.leases)
	case o.Type == Lost, o.Type == Invoke && o.F == Release, o.Type == Fail && o.F == Extend && o.Outcome == NotHeld:
		delete(s.leases, o.Grant)
	case o.Type == Invoke:
		s.called = o.Time
	case o.Type == OK && (o.F == Acquire || o.F == Extend):
		if at, held := s.leases[o.Grant]; held || o.F == Acquire {
			s.leases[o.Grant] = max(at, leaseEnd(o, s.called, c))
		}
	}
}

// leaseEnd is until when a client may believe in what o, called then, granted it; 0: nobody knows. What was over when the
// answer came ended with it.
func leaseEnd(o *Op, called time.Duration, c *Contract) time.Duration {
	if o.Valid > 0 {
		return max(o.Valid, o.Time)
	}
	ttl := cmp.Or(o.TTL, c.TTL)
	if ttl <= 0 {
		return 0
	}
	return max(called+time.Duration(float64(ttl)/(1+c.Drift)), o.Time)
}

// since is the first end of a lease after which s has no event.
func (s *silence) since() (at time.Duration, ok bool) {
	for _, end := range s.leases {
		if end > 0 && end >= s.last && (!ok || end < at) {
			at, ok = end, true
		}
	}
	return at, ok
}

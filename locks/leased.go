package locks

import (
	"fmt"
	"sync"
	"time"
)

// Leased is what a grant with a lease knows of itself: a Lock but for its Release, for providers to embed. It tells of no
// loss.
type Leased struct {
	owner string
	grant Token

	mu    sync.Mutex
	ttl   time.Duration
	until time.Time
}

// NewLeased is a grant that was asked for, by owner and for ttl, and not made yet.
func NewLeased(owner string, ttl time.Duration) *Leased { return &Leased{owner: owner, ttl: ttl} }

// Owner is what the service compares.
func (l *Leased) Owner() string { return l.owner }

// Token of the grant; 0 before Granted.
func (l *Leased) Token() Token { return l.grant }

// Lost is nil.
func (l *Leased) Lost() <-chan struct{} { return nil }

// TTL is the last that was granted, or else asked for.
func (l *Leased) TTL() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ttl
}

// ValidUntil is zero before a lease was granted.
func (l *Leased) ValidUntil() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.until
}

// Renew begins a lease of ttl that was asked for at sent: the service can only have begun it later. margin is given up for
// clocks that run at different rates.
func (l *Leased) Renew(sent time.Time, ttl, margin time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ttl, l.until = ttl, sent.Add(ttl-margin)
}

// Granted is the first Renew, with the grant's token. Its error is indefinite: the lease had ended when the grant came.
func (l *Leased) Granted(token Token, sent time.Time, ttl, margin time.Duration) error {
	l.grant = token
	l.Renew(sent, ttl, margin)
	if !time.Now().Before(l.ValidUntil()) {
		return fmt.Errorf("the grant came %v after it was asked for, its lease of %v has ended", time.Since(sent).Round(time.Millisecond), ttl)
	}
	return nil
}

package history

import (
	"fmt"
	"time"
)

// Bounds of what a history may sensibly say. Beyond them arithmetic would overflow, or memory run out, and no lock that
// is tested comes near them.
const (
	mostTime  = 10 * 365 * 24 * time.Hour
	mostCount = 1_000_000_000
)

// sense checks the numbers and words of a header.
func (h *Header) sense() error {
	for i := range h.Locks {
		if err := h.Locks[i].Contract.sense(); err != nil {
			return fmt.Errorf("lock %q: %w", h.Locks[i].Name, err)
		}
	}
	for _, r := range h.Resources {
		if !oneOf(r.Check, "", IgnoresToken, ChecksToken, ChecksVersion) {
			return fmt.Errorf("%w: resource %q: check is %q, expected %s, %s or %s", ErrFormat, r.Name, r.Check, IgnoresToken, ChecksToken, ChecksVersion)
		}
	}
	return firstError(
		duration("recover_within_ns", h.Bounds.RecoverWithin),
		duration("wait_ns", h.Bounds.Wait),
		number("min_acquires", h.Bounds.MinAcquires),
		duration("clock_error_ns", h.ClockError),
		duration("pipe_delay_ns", h.Pipe),
	)
}

func (c *Contract) sense() error {
	if !oneOf(c.Expiry, "", NoExpiry, Lease, Session) {
		return fmt.Errorf("%w: expiry is %q, expected %s, %s or %s", ErrFormat, c.Expiry, NoExpiry, Lease, Session)
	}
	if !oneOf(c.Tokens, "", NoTokens, PerGrant, PerSession) {
		return fmt.Errorf("%w: tokens is %q, expected %s, %s or %s", ErrFormat, c.Tokens, NoTokens, PerGrant, PerSession)
	}
	if !(c.Drift >= 0 && c.Drift < 1) {
		return fmt.Errorf("%w: drift is %v, expected at least 0 and less than 1", ErrFormat, c.Drift)
	}
	return firstError(duration("ttl_ns", c.TTL), number("permits", c.Permits), number("reentry_limit", c.Reentry))
}

// sense checks what one event says by itself. Only of what was observed a TTL can be negative: it has no end.
func (o *Op) sense() error {
	if (o.Type == Invoke || o.Completes()) && !oneOf(o.F, Acquire, Extend, Release, Read, Write) {
		return fmt.Errorf("%w: f is %q, expected %s, %s, %s, %s or %s", ErrFormat, o.F, Acquire, Extend, Release, Read, Write)
	}
	if !oneOf(o.Mode, "", Exclusive, Shared) {
		return fmt.Errorf("%w: mode is %q, expected %s or %s", ErrFormat, o.Mode, Exclusive, Shared)
	}
	ttl := o.TTL
	if o.Type == Observed {
		ttl = max(ttl, 0)
	}
	return firstError(
		duration("t_ns", o.Time), duration("ttl_ns", ttl), duration("valid_until_ns", o.Valid),
		number("permits", o.Permits), natural("grant", o.Grant), natural("thread", o.Thread), natural("process", o.Process),
	)
}

func oneOf[T comparable](x T, of ...T) bool {
	for _, y := range of {
		if x == y {
			return true
		}
	}
	return false
}

func duration(name string, d time.Duration) error {
	if d < 0 || d > mostTime {
		return fmt.Errorf("%w: %s is %d (%v), expected 0 to %d (10 years)", ErrFormat, name, d, d, mostTime)
	}
	return nil
}

func number(name string, n int) error {
	if n < 0 || n > mostCount {
		return fmt.Errorf("%w: %s is %d, expected 0 to %d", ErrFormat, name, n, mostCount)
	}
	return nil
}

func natural(name string, n int) error {
	if n < 0 {
		return fmt.Errorf("%w: %s is %d, which is negative", ErrFormat, name, n)
	}
	return nil
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

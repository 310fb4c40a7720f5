package workloads

import (
	"context"
	"slices"
)

// Reentrant takes the lock again while it holds it, up to its limit, and works in the innermost grant.
type Reentrant struct{}

// Name of the workload.
func (Reentrant) Name() string { return "reentrant" }

// UsesResource is true.
func (Reentrant) UsesResource() bool { return true }

// Section goes as deep as it draws. A lock that can't be taken again is not.
func (Reentrant) Section(ctx context.Context, s *Section) error {
	limit := s.worker.shared.Contracts[s.hold.lock].Reentry
	return s.deeper(ctx, s.worker.rand.IntN(max(1, limit)))
}

func (s *Section) deeper(ctx context.Context, levels int) error {
	if levels == 0 {
		return readHoldWrite(ctx, s, func(_, grant int64) int64 { return grant })
	}
	return s.worker.once(ctx, s.hold.ask, s.worker.config.Wait, func(ctx context.Context, inner *Section) error {
		return inner.deeper(ctx, levels-1)
	})
}

// Nested takes a second lock while it holds the first: in the order of their names, or in any, which deadlocks.
type Nested struct{}

// Name of the workload.
func (Nested) Name() string { return "nested" }

// UsesResource is true.
func (Nested) UsesResource() bool { return true }

// Section writes under the second lock, if there is one after the first, and then under the first.
func (Nested) Section(ctx context.Context, s *Section) error {
	w := s.worker
	version, _, ok := s.Read(ctx)
	if !ok {
		return nil
	}
	if held, err := s.Hold(ctx, s.HoldTime()/2); !held || err != nil {
		return err
	}
	if lock := s.second(); lock != "" {
		if err := w.once(ctx, w.ask(lock), w.config.Wait, Register{}.Section); err != nil {
			return err
		}
	}
	_, err := s.Write(ctx, version, int64(s.hold.grant))
	return err
}

// second is the other lock to take; none: the first has no successor.
func (s *Section) second() string {
	w := s.worker
	names := w.config.Locks
	at := slices.Index(names, s.hold.lock)
	switch {
	case w.config.Order == Opposite && len(names) > 1:
		return names[(at+1+w.rand.IntN(len(names)-1))%len(names)]
	case at+1 < len(names):
		return names[at+1]
	}
	return ""
}

package workloads

import "context"

// Handover holds and does nothing else, and asks again at once: everybody always waits, so that who is overtaken, and how
// long a free lock stays unused, can be measured.
type Handover struct{}

// Name of the workload.
func (Handover) Name() string { return "handover" }

// UsesResource is false.
func (Handover) UsesResource() bool { return false }

// Section holds.
func (Handover) Section(ctx context.Context, s *Section) error {
	_, err := s.Hold(ctx, s.HoldTime())
	return err
}

// Election is a leader's term: it writes again and again, until the term ends or is lost.
type Election struct{}

// Name of the workload.
func (Election) Name() string { return "election" }

// UsesResource is true.
func (Election) UsesResource() bool { return true }

// deeds is how often a leader writes in a term, and how many entries a log's section appends.
const deeds = 4

// Section reads once and then writes on top of its own last write.
func (Election) Section(ctx context.Context, s *Section) error {
	return s.series(ctx, func(_, grant int64) int64 { return grant })
}

// Log appends several entries while it holds; no other client's may stand between them.
type Log struct{}

// Name of the workload.
func (Log) Name() string { return "log" }

// UsesResource is true.
func (Log) UsesResource() bool { return true }

// Section appends its entries; n is how many the log has.
func (Log) Section(ctx context.Context, s *Section) error {
	return s.series(ctx, func(n, _ int64) int64 { return n + 1 })
}

// series reads and then writes deeds times over the time of the hold, each on top of the one before.
func (s *Section) series(ctx context.Context, next func(n, grant int64) int64) error {
	version, n, ok := s.Read(ctx)
	if !ok {
		return nil
	}
	d := s.HoldTime() / deeds
	for range deeds {
		held, err := s.Hold(ctx, d)
		if !held || err != nil || s.raises() {
			return err
		}
		n = next(n, int64(s.hold.grant))
		var wrote bool
		if version, wrote, err = s.write(ctx, version, n); !wrote || err != nil {
			return err
		}
	}
	return nil
}

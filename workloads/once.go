package workloads

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/locktest/locktest/history"
)

// Once runs jobs, each of which is to be run once: under the lock it looks for the next job that isn't marked done, runs
// it, and marks it. Who dies or fails in between leaves a job that was run and isn't marked, and it is run again, although
// the lock is right: a lock is no substitute for an idempotent job. With Deduplicate the resource knows which jobs it has
// run and refuses the second.
type Once struct{}

// Name of the workload.
func (Once) Name() string { return "once" }

// UsesResource is true.
func (Once) UsesResource() bool { return true }

// Section runs one job.
func (Once) Section(ctx context.Context, s *Section) error {
	version, _, ok := s.Read(ctx)
	if !ok {
		return nil
	}
	deduplicate := s.worker.config.Deduplicate
	job := s.resource().nextJob()
	if s.hold.early != nil {
		job = s.hold.early.job
	}
	ran, ok, err := s.send(ctx, version, jobData(job, false), func(r *Resource, op history.Op) bool { return r.runJob(op, job, deduplicate) })
	if err != nil {
		return err
	}
	if ok {
		version = ran
	}
	held, err := s.Hold(ctx, s.HoldTime())
	if !held || err != nil || s.raises() {
		return err
	}
	_, _, err = s.send(ctx, version, jobData(job, true), func(r *Resource, op history.Op) bool { return r.markJob(op, job) })
	return err
}

// jobs is what a resource knows of them.
type jobs struct {
	done int // jobs up to here are marked
	ran  map[int]bool
}

// nextJob is the first that isn't marked, from 1.
func (r *Resource) nextJob() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.jobs.done + 1
}

// runJob completes op. once: a job that was run already is refused.
func (r *Resource) runJob(op history.Op, job int, once bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if once && r.jobs.ran[job] {
		op.Type, op.Outcome, op.Error = history.Fail, history.Rejected, fmt.Sprintf("job %d was run already", job)
		r.recorder.Record(op)
		return false
	}
	if !r.take(op) {
		return false
	}
	if r.jobs.ran == nil {
		r.jobs.ran = map[int]bool{}
	}
	r.jobs.ran[job] = true
	return true
}

// markJob completes op.
func (r *Resource) markJob(op history.Op, job int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.take(op) {
		return false
	}
	r.jobs.done = max(r.jobs.done, job)
	return true
}

func jobData(job int, done bool) json.RawMessage {
	if done {
		return fmt.Appendf(nil, `{"job":%d,"done":true}`, job)
	}
	return fmt.Appendf(nil, `{"job":%d}`, job)
}

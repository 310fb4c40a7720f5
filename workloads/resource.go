package workloads

import (
	"encoding/json"
	"strconv"
	"sync"

	"github.com/locktest/locktest/history"
)

// Resource is the guarded resource: a number with a version. One in the harness records each decision while it decides, so that
// the history has them in their true order; one in a store is only known by name here.
type Resource struct {
	name     string
	check    string // history.IgnoresToken, …
	store    string // Harness, or whose server it lives in
	recorder Recorder

	mu      sync.Mutex
	version int64 // 0: never written
	n       int64
	mark    uint64 // the highest token seen
	jobs    jobs
}

// Resources that check tokens as people get it wrong, besides the right ways in package history.
const (
	ChecksOnWrites   = "checks-token-on-writes"    // a read doesn't advance the mark
	ChecksInTwoSteps = "checks-token-in-two-steps" // the check, and then the write, whatever came in between
	IgnoresRefusal   = "ignores-refusal"           // the check is right, and the client takes a refused write for done
)

// claimed is what a resource is taken for.
func (r *Resource) claimed() string {
	switch r.check {
	case ChecksOnWrites, ChecksInTwoSteps, IgnoresRefusal:
		return history.ChecksToken
	}
	return r.check
}

// NewResource makes one that was never written.
func NewResource(name, check string, r Recorder) *Resource {
	return &Resource{name: name, check: check, store: Harness, recorder: r}
}

// Harness is the store of a Resource that lives here.
const Harness = "harness"

// NewStored makes one that lives in a server, where clients read and write it themselves.
func NewStored(name, check, store string) *Resource {
	return &Resource{name: name, check: check, store: store}
}

func (r *Resource) stored() bool { return r.store != Harness }

// Name is the lock's that guards it.
func (r *Resource) Name() string { return r.name }

// Describe is what a history's header says of it.
func (r *Resource) Describe() history.Resource {
	return history.Resource{Name: r.name, Check: r.claimed(), Store: r.store, Ordered: !r.stored()}
}

// Read completes op with the version and the number, or refuses it. A read advances the mark too: else a write of an
// earlier holder could slip in between a holder's read and its write.
func (r *Resource) Read(op history.Op) (version, n int64, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.check != ChecksOnWrites && !r.admits(op.Token) {
		r.refuse(op)
		return 0, 0, false
	}
	op.Type, op.Value, op.Data = history.OK, r.version, number(r.n)
	r.recorder.Record(op)
	return r.version, r.n, true
}

// Write completes op, which makes version op.Value of op.Base, or refuses it.
func (r *Resource) Write(op history.Op, n int64) (ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.take(op) {
		return false
	}
	r.n = n
	return true
}

// take completes op, a write, by the check of the resource, which is locked.
func (r *Resource) take(op history.Op) bool {
	stale := r.check != ChecksInTwoSteps && !r.admits(op.Token)
	if stale && r.check == IgnoresRefusal {
		op.Type = history.OK // so the client sees it
		r.recorder.Record(op)
		return true
	}
	if stale || r.check == history.ChecksVersion && op.Base != r.version {
		r.refuse(op)
		return false
	}
	r.version = op.Value
	op.Type = history.OK
	r.recorder.Record(op)
	return true
}

// admits takes a token that is equal to or above the highest seen, and writes without a token.
func (r *Resource) admits(token uint64) bool {
	if r.claimed() != history.ChecksToken || token == 0 {
		return true
	}
	if token < r.mark {
		return false
	}
	r.mark = token
	return true
}

func (r *Resource) refuse(op history.Op) {
	op.Type, op.Outcome = history.Fail, history.Rejected
	op.Error = "token " + strconv.FormatUint(op.Token, 10) + " is lower than " + strconv.FormatUint(r.mark, 10)
	if r.check == history.ChecksVersion {
		op.Error = "version " + strconv.FormatInt(op.Base, 10) + " is not the current one, " + strconv.FormatInt(r.version, 10)
	}
	r.recorder.Record(op)
}

// number is the payload of a read or a write: {"n":41}.
func number(n int64) json.RawMessage {
	return append(strconv.AppendInt([]byte(`{"n":`), n, 10), '}')
}

// allows is the first of two steps: it refuses op, or lets it go on to be carried out later without another look.
func (r *Resource) allows(op history.Op) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.admits(op.Token) {
		return true
	}
	r.refuse(op)
	return false
}

package history

import (
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"
)

// Recorder gives events their one order and their time by one monotonic clock, and has each in its writer before Record
// returns. Only a Recorder writes a history. Its methods may be called from any goroutine.
type Recorder struct {
	began time.Time
	tell  func(*Op)

	mu     sync.Mutex // order, time and buf
	next   int
	buf    []byte
	err    error
	closed bool

	wmu   sync.Mutex // the writer; taken before mu
	w     io.Writer
	spare []byte
	done  int // events that are written
}

// NewRecorder writes the header line. The run's clock starts at began, which must carry a monotonic reading (time.Now
// without rounding). w should be an unbuffered file: then a crash of this process loses nothing that Record returned for.
func NewRecorder(w io.Writer, h Header, began time.Time) (*Recorder, error) {
	h.Schema = Schema
	line, err := json.Marshal(h)
	if err != nil {
		return nil, fmt.Errorf("history header: %w", err)
	}
	if _, err := w.Write(append(line, '\n')); err != nil {
		return nil, fmt.Errorf("history header: %w", err)
	}
	return &Recorder{began: began, w: w}, nil
}

// Tell has f told of each event as it is recorded, in their order. f must not block, nor keep the event beyond the call
// without copying it. It is called before the first Record.
func (r *Recorder) Tell(f func(*Op)) { r.tell = f }

// Began is the start of the run's clock.
func (r *Recorder) Began() time.Time { return r.began }

// Since returns t on the run's clock; zero for the zero Time.
func (r *Recorder) Since(t time.Time) time.Duration {
	if t.IsZero() {
		return 0
	}
	return t.Sub(r.began)
}

// Record gives op its Index and Time and writes it. After Close, or after a write failed, events are dropped: see Err.
func (r *Recorder) Record(op Op) Op {
	if r.letIn(&op) {
		r.flush(op.Index)
	}
	return op
}

// letIn gives op its place, and says whether it has one. It is buffered: the next flush writes it.
func (r *Recorder) letIn(op *Op) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed || r.err != nil {
		return false
	}
	op.Index, op.Time = r.next, time.Since(r.began)
	r.next++
	r.buf = append(AppendJSON(r.buf, op), '\n')
	if r.tell != nil {
		r.tell(op)
	}
	return true
}

// flush writes what is buffered up to the event of that index, and what others have added meanwhile: under load one
// write serves many events.
func (r *Recorder) flush(index int) {
	r.wmu.Lock()
	defer r.wmu.Unlock()
	if r.done > index {
		return
	}
	r.mu.Lock()
	out, upTo := r.buf, r.next
	r.buf = r.spare[:0]
	r.mu.Unlock()
	_, err := r.w.Write(out)
	r.spare, r.done = out, upTo
	if err != nil {
		r.mu.Lock()
		r.err = fmt.Errorf("write history: %w", err)
		r.mu.Unlock()
	}
}

// Len returns the number of events so far.
func (r *Recorder) Len() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.next
}

// Err returns the first error of the writer.
func (r *Recorder) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// Close lets no more events in, writes those that were let in, and returns Err. It doesn't close the writer, which
// nothing uses any more.
func (r *Recorder) Close() error {
	r.mu.Lock()
	r.closed = true
	last := r.next - 1
	r.mu.Unlock()
	r.flush(last)
	return r.Err()
}

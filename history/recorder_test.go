package history

import (
	"bytes"
	"sync"
	"testing"
	"time"
)

// An event that was let in is written once Close returns, also where its own Record has not come to that.
func TestRecorderCloseWritesWhatWasLetIn(t *testing.T) {
	var out bytes.Buffer
	r, err := NewRecorder(&out, Header{}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	r.Record(Op{Type: Crash})
	op := Op{Type: Crash}
	if !r.letIn(&op) {
		t.Fatal("the event was not let in")
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(out.Bytes(), []byte("\n")); n != 3 {
		t.Errorf("%d lines, want the header and 2 events", n)
	}
	r.flush(op.Index)
	if err := r.Close(); err != nil || bytes.Count(out.Bytes(), []byte("\n")) != 3 {
		t.Errorf("something was written after Close: %q, %v", out.String(), err)
	}
}

// After Close the writer is the caller's again: the race detector sees whoever still writes.
func TestRecorderCloseAmongRecords(t *testing.T) {
	for range 300 {
		var out bytes.Buffer
		r, err := NewRecorder(&out, Header{}, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for range 5 {
					r.Record(Op{Type: Crash})
				}
			})
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		h, err := ReadJSONL(bytes.NewReader(out.Bytes()))
		if err != nil || len(h.Ops) != r.Len() {
			t.Fatalf("%d of %d events are written, %v", len(h.Ops), r.Len(), err)
		}
		wg.Wait()
	}
}

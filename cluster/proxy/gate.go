package proxy

import (
	"slices"
	"time"

	"github.com/Shopify/toxiproxy/v2/stream"
	"github.com/Shopify/toxiproxy/v2/toxics"

	"github.com/locktest/locktest/cluster"
)

// gateType is the gate's name among toxiproxy's toxics.
const gateType = "locktest_gate"

// gate is a toxic that passes, holds, delays, slows down or drops what one direction of a pair carries, as its valve says.
type gate struct {
	valve *valve
	// next is the session that the next link belongs to. Toxiproxy asks for a link's state while it starts it, and tells
	// nothing about the connection; a pair starts one link at a time.
	next *session
}

// NewState is called by toxiproxy once per connection.
func (g *gate) NewState() any { return &queue{valve: g.valve, done: g.next.done} }

// Pipe carries one direction of one connection. The queue keeps order and lets chunks wait at the same time, so that
// latency costs no throughput. Its condition is read anew before each step: what is received after a change meets the new one.
func (g *gate) Pipe(s *toxics.ToxicStub) {
	q := s.State.(*queue)
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		now := q.valve.get()
		free, wait := q.free(now)
		if free && q.items[0].chunk == nil { // the end of the connection
			s.Close()
			drain(s.Input)
			return
		}
		timer.Reset(wait)
		select {
		case <-s.Interrupt:
			return
		case <-now.over:
		case <-timer.C:
		case <-q.done:
			s.Close()
			drain(s.Input)
			return
		case chunk := <-q.input(s):
			q.take(chunk)
		case q.output(s, free) <- q.head():
			q.pop()
		}
	}
}

// drain lets those who still write to a closed connection come to their end.
func drain(in <-chan *stream.StreamChunk) {
	for range in {
	}
}

// queueBytes is how much may wait in a gate; more waits in the sender's buffers, as with a real link.
const queueBytes = 1 << 20

// idle is how long a gate sleeps when it waits for no time.
const idle = time.Hour

// queue is what one direction of one connection has under way.
type queue struct {
	valve *valve
	done  <-chan struct{}
	items []item
	bytes int
	last  time.Time // when the newest is due: none overtakes it
	ended bool      // the sender has closed

	on      *setting  // whose line the head has; nil: none yet
	through time.Time // when it is over that line
}

// item is a chunk, or the end of the connection (nil).
type item struct {
	chunk *stream.StreamChunk
	due   time.Time
}

// input is where the next chunk comes from; nil (for ever) when none is wanted.
func (q *queue) input(s *toxics.ToxicStub) <-chan *stream.StreamChunk {
	if q.ended || q.bytes >= queueBytes {
		return nil
	}
	return s.Input
}

func (q *queue) output(s *toxics.ToxicStub, free bool) chan<- *stream.StreamChunk {
	if !free {
		return nil
	}
	return s.Output
}

func (q *queue) head() *stream.StreamChunk {
	if len(q.items) == 0 {
		return nil
	}
	return q.items[0].chunk
}

func (q *queue) pop() {
	q.on = nil
	q.bytes -= len(q.items[0].chunk.Data)
	q.items[0] = item{}
	q.items = q.items[1:]
}

// take queues a chunk, or the end that a nil one says. What is dropped is gone, ends too: the session ends when the link heals.
func (q *queue) take(chunk *stream.StreamChunk) {
	if chunk == nil {
		q.ended = true
	}
	if m := q.valve.mode(); m == cluster.Drop || m == cluster.Refuse {
		return
	}
	if d := q.valve.delay(); d > 0 || !q.last.IsZero() {
		if due := time.Now().Add(d); due.After(q.last) {
			q.last = due
		}
	}
	q.items = append(q.items, item{chunk: chunk, due: q.last})
	if chunk != nil {
		q.bytes += len(chunk.Data)
	}
}

// free says whether the head may go now, and if not how long the gate may sleep.
func (q *queue) free(now *setting) (free bool, wait time.Duration) {
	if len(q.items) == 0 || now.Mode != cluster.Pass {
		return false, idle
	}
	due := q.items[0].due
	if wait := time.Until(due); !due.IsZero() && wait > 0 {
		return false, wait
	}
	return q.paced(now)
}

// paced gives the head the line, piece by piece where its rate is limited, and says whether it is through.
func (q *queue) paced(now *setting) (through bool, wait time.Duration) {
	if now.Rate == 0 || q.items[0].chunk == nil {
		return true, idle
	}
	if q.on != now {
		q.split(now.piece())
		q.on, q.through = now, now.carry(len(q.items[0].chunk.Data))
	}
	if wait := time.Until(q.through); wait > 0 {
		return false, wait
	}
	return true, idle
}

// split leaves at most n bytes in the head; the rest comes next.
func (q *queue) split(n int) {
	head := q.items[0].chunk
	if len(head.Data) <= n {
		return
	}
	rest := item{chunk: &stream.StreamChunk{Data: head.Data[n:], Timestamp: head.Timestamp}, due: q.items[0].due}
	q.items[0].chunk = &stream.StreamChunk{Data: head.Data[:n], Timestamp: head.Timestamp}
	q.items = slices.Insert(q.items, 1, rest)
}

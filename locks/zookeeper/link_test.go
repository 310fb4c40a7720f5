package zookeeper

import (
	"encoding/binary"
	"slices"
	"testing"
	"time"
)

// frame is a length and so many bytes: the first number, the second, and filling.
func frame(first, second int32, filling int) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(8+filling))
	b = binary.BigEndian.AppendUint32(b, uint32(first))
	b = binary.BigEndian.AppendUint32(b, uint32(second))
	return append(b, make([]byte, filling)...)
}

// count feeds data in pieces of a size, and returns the greetings and how many answers there were.
func count(data []byte, piece int) (greetings []time.Duration, answers int) {
	var f frames
	for part := range slices.Chunk(data, piece) {
		f.feed(part, func(d time.Duration) { greetings = append(greetings, d) }, func() { answers++ })
	}
	return greetings, answers
}

func TestFrames(t *testing.T) {
	const ping = -2
	data := slices.Concat(frame(0, 1500, 29), frame(ping, 0, 8), frame(1, 7, 100), frame(event, 0, 30), frame(2, 8, 8))
	for _, piece := range []int{1, 3, 4, 12, 16, 1000} {
		greetings, answers := count(data, piece)
		if !slices.Equal(greetings, []time.Duration{1500 * time.Millisecond}) || answers != 3 {
			t.Errorf("in pieces of %d: greetings %v and %d answers, want one of 1.5s and 3", piece, greetings, answers)
		}
	}
}

// FuzzFrames: however the bytes are cut, they say the same, and nothing panics.
func FuzzFrames(f *testing.F) {
	f.Add(slices.Concat(frame(0, 4000, 29), frame(1, 0, 8)), uint8(5))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 0}, uint8(1))
	f.Fuzz(func(t *testing.T, data []byte, piece uint8) {
		greetings, answers := count(data, int(piece)+1)
		whole, all := count(data, len(data)+1)
		if !slices.Equal(greetings, whole) || answers != all {
			t.Errorf("in pieces of %d: %v and %d, as a whole: %v and %d", int(piece)+1, greetings, answers, whole, all)
		}
	})
}

func TestAnswersBelongToTheOldestRequest(t *testing.T) {
	s := &session{timeout: time.Second, up: make(chan struct{}), news: make(chan struct{}, 1)}
	l := &link{session: s}
	begin := time.Now()
	for i := range 3 {
		l.sent = append(l.sent, begin.Add(time.Duration(i)*time.Second))
	}
	l.greeted(2 * time.Second)
	if got := s.deadline(); !got.Equal(begin.Add(2 * time.Second)) {
		t.Errorf("after the greeting the session lasts until %v from the first request", got.Sub(begin))
	}
	l.answered()
	if got := s.deadline(); !got.Equal(begin.Add(3 * time.Second)) {
		t.Errorf("after the second answer the session lasts until %v from the first request", got.Sub(begin))
	}
	l.answered()
	l.answered() // of nothing: it tells nothing
	if got := s.deadline(); !got.Equal(begin.Add(4 * time.Second)) {
		t.Errorf("after all answers the session lasts until %v from the first request", got.Sub(begin))
	}
}

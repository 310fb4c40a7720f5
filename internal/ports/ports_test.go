package ports

import (
	"net"
	"strconv"
	"testing"
)

func newAllocator(t *testing.T) *Allocator {
	t.Helper()
	a, err := New("127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	return a
}

func TestAllocatorsNeverGiveTheSamePort(t *testing.T) {
	seen := map[int]bool{}
	for range 3 {
		a := newAllocator(t)
		for range blockPorts + 10 { // more than a block
			p, err := a.Take()
			if err != nil {
				t.Fatal(err)
			}
			if seen[p] {
				t.Fatalf("port %d was given twice", p)
			}
			if p < lowest || p >= highest {
				t.Fatalf("port %d, want one from %d to %d", p, lowest, highest)
			}
			seen[p] = true
		}
	}
}

func TestTakenPortIsLeftOut(t *testing.T) {
	a := newAllocator(t)
	if _, err := a.Take(); err != nil {
		t.Fatal(err)
	}
	next := a.left[0]
	l, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(next))
	if err == nil { // else somebody else listens there, which does as well
		defer l.Close()
	}
	if Free("127.0.0.1", next) {
		t.Errorf("port %d counts as free while a server listens", next)
	}
	q, err := a.Take()
	if err != nil {
		t.Fatal(err)
	}
	if q == next {
		t.Errorf("port %d was given while a server listens", q)
	}
}

func TestClosedAllocator(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir()) // locks that no other run of this test competes for
	a := newAllocator(t)
	if _, err := a.Take(); err != nil {
		t.Fatal(err)
	}
	block := a.locks[0].Name()
	for range 2 {
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := a.Take(); err == nil {
		t.Error("a closed allocator gave a port")
	}
	b := newAllocator(t) // begins where a did
	if _, err := b.Take(); err != nil {
		t.Fatal(err)
	}
	if got := b.locks[0].Name(); got != block {
		t.Errorf("the next allocator locked %s, want %s, which was given back", got, block)
	}
}

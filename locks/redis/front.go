package redis

import (
	"net"
	"sync"
)

// front accepts connections and hands each to a server, through a gate.
type front struct {
	listener net.Listener
	dial     func() (net.Conn, error)
	gate     *gate
	gone     sync.WaitGroup

	mu     sync.Mutex
	conns  map[net.Conn]struct{}
	closed bool
}

func newFront(l net.Listener, dial func() (net.Conn, error)) *front {
	f := &front{listener: l, dial: dial, gate: newGate(), conns: map[net.Conn]struct{}{}}
	f.gone.Add(1)
	go f.accept()
	return f
}

// close cuts every connection; what hasn't gone through the gate is lost.
func (f *front) close() {
	f.listener.Close()
	f.mu.Lock()
	f.closed = true
	for c := range f.conns {
		c.Close()
	}
	f.mu.Unlock()
	f.gate.end()
	f.gone.Wait()
}

func (f *front) accept() {
	defer f.gone.Done()
	for {
		client, err := f.listener.Accept()
		if err != nil {
			return
		}
		server, err := f.dial()
		if err != nil || !f.keep(client, server) {
			client.Close()
			continue
		}
		f.gone.Add(2)
		go f.copy(server, client)
		go f.copy(client, server)
	}
}

func (f *front) keep(conns ...net.Conn) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range conns {
		if f.closed {
			c.Close()
			continue
		}
		f.conns[c] = struct{}{}
	}
	return !f.closed
}

// copy passes bytes on, each through the gate after it was read: what is read while the gate is shut goes on when it opens.
func (f *front) copy(to, from net.Conn) {
	defer f.gone.Done()
	defer f.drop(to, from)
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		if !f.gate.pass() {
			return
		}
		if n > 0 {
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func (f *front) drop(conns ...net.Conn) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range conns {
		c.Close()
		delete(f.conns, c)
	}
}

// gate is open at first.
type gate struct {
	mu     sync.Mutex
	cond   *sync.Cond
	isShut bool
	ended  bool
}

func newGate() *gate {
	g := &gate{}
	g.cond = sync.NewCond(&g.mu)
	return g
}

// pass waits until the gate is open, and says false once it has ended.
func (g *gate) pass() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	for g.isShut && !g.ended {
		g.cond.Wait()
	}
	return !g.ended
}

func (g *gate) shut() { g.set(func() { g.isShut = true }) }
func (g *gate) open() { g.set(func() { g.isShut = false }) }
func (g *gate) end()  { g.set(func() { g.ended = true }) }

func (g *gate) set(change func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	change()
	g.cond.Broadcast()
}

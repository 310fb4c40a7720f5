// Package wire tells the messages of a connection apart: what a client asks, which reply answers what, and what a server says
// unasked. Of Redis' protocol, PostgreSQL's, ZooKeeper's and of HTTP/2 as gRPC uses it, it knows as much as that takes. It
// changes no byte, and it knows no link and no fault.
package wire

import (
	"fmt"
	"slices"
)

// The protocols.
const (
	RESP      = "resp"      // Redis, versions 2 and 3, inline commands too
	Postgres  = "postgres"  // PostgreSQL's, version 3
	ZooKeeper = "zookeeper" // frames of a length, in jute
	HTTP2     = "http2"     // without TLS, with gRPC in it
)

// Kind is what a frame is.
type Kind uint8

// The kinds of frames.
const (
	Other   Kind = iota // greetings, pings, what belongs to no request
	Request             // a part of one, or all of it
	Reply               // a part of one, or all of it
	Push                // what the server says unasked: a message of a channel, a watch's event, a notification
)

func (k Kind) String() string { return [...]string{"other", "request", "reply", "push"}[k] }

// Frame is the least that can be kept, dropped or held back by itself.
type Frame struct {
	Data []byte // never empty; its own
	Kind Kind
	// ID is the same for a request and its replies, and another for every request of the connection. 0: it belongs to none.
	ID    uint64
	First bool   // of the frames of one request
	Text  string // of a request's first frame, and of a push: a command with its arguments, SQL, an operation with its path
}

// Session is what a server granted to a connection and would take back: an id, and what proves that it is one's own.
type Session struct {
	ID     int64
	Secret []byte
}

// Conn follows one connection from its beginning. Up and Down may not be called at the same time.
type Conn struct {
	p        protocol
	up, down side
	lost     bool
}

// side is one direction; rest are the bytes of a message that isn't whole yet.
type side struct{ rest []byte }

// protocol is asked for the size of the first message of b: 0 as long as that isn't whole, less where it is none of this
// protocol's; and then to tell what it is.
type protocol interface {
	size(fromClient bool, b []byte) int
	tell(fromClient bool, message []byte) Frame
}

// sessioned is a protocol in which servers grant sessions.
type sessioned interface{ sessions() []Session }

// New begins to follow a connection; false: the protocol isn't known.
func New(name string) (*Conn, bool) {
	switch name {
	case RESP:
		return &Conn{p: new(resp)}, true
	case Postgres:
		return &Conn{p: &postgres{statements: map[string]string{}}}, true
	case ZooKeeper:
		return &Conn{p: new(zookeeper)}, true
	case HTTP2:
		return &Conn{p: newHTTP2()}, true
	}
	return nil, false
}

// Up takes what the client sent, and returns what is whole.
func (c *Conn) Up(b []byte) []Frame { return c.feed(&c.up, true, b) }

// Down takes what the server sent, and returns what is whole.
func (c *Conn) Down(b []byte) []Frame { return c.feed(&c.down, false, b) }

// UpRest and DownRest return, once, the bytes of a message that was cut off by the end of its direction.
func (c *Conn) UpRest() []byte   { return c.up.take() }
func (c *Conn) DownRest() []byte { return c.down.take() }

// Lost says that what passed was no longer of the protocol, or a message was longer than could be kept. From then on every
// byte is a frame of no kind.
func (c *Conn) Lost() bool { return c.lost }

// Sessions are those that the server granted over this connection.
func (c *Conn) Sessions() []Session {
	if s, ok := c.p.(sessioned); ok {
		return s.sessions()
	}
	return nil
}

// longest is how many bytes of one message are kept: a lock's are some hundred.
const longest = 1 << 20

func (c *Conn) feed(s *side, fromClient bool, b []byte) []Frame {
	s.rest = append(s.rest, b...)
	var out []Frame
	for !c.lost && len(s.rest) > 0 {
		n := c.p.size(fromClient, s.rest)
		if n < 0 || n == 0 && len(s.rest) > longest {
			c.lost = true
			break
		}
		if n == 0 {
			return out
		}
		data := slices.Clone(s.rest[:n])
		s.rest = s.rest[n:]
		f := c.p.tell(fromClient, data)
		f.Data = data
		out = append(out, f)
	}
	if rest := s.take(); len(rest) > 0 {
		out = append(out, Frame{Data: rest})
	}
	return out
}

func (s *side) take() []byte {
	rest := s.rest
	s.rest = nil
	return rest
}

// Deed is what can be done to a message.
type Deed string

// The deeds.
const (
	Drop  Deed = "drop"
	Delay Deed = "delay"
	Hold  Deed = "hold"
	Reset Deed = "reset" // of the connection, just before the message
)

// Can says why a deed can't be done to messages of a kind in a protocol; nil where it can.
func Can(name string, deed Deed, kind Kind) error {
	if _, ok := New(name); !ok {
		return fmt.Errorf("the messages of this server's protocol %q can't be told apart", name)
	}
	if deed == Drop && kind == Request {
		return fmt.Errorf("a request can't be dropped by itself, since its reply would be missed: hold it, or drop what is sent by a partition")
	}
	if name == HTTP2 && deed == Drop && kind != Push {
		return fmt.Errorf("a %s can't be dropped from HTTP/2: its headers are compressed with those before, and no later one could be read; reset the connection before it", kind)
	}
	return nil
}

package wire

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/protobuf/encoding/protowire"
)

// talk is what passes, in its order; up is what the client sends.
type talk struct {
	up   bool
	data string
}

func up(data string) talk   { return talk{true, data} }
func down(data string) talk { return talk{false, data} }

// told writes frames as lines: "request 1 SET a b", "+" before those that aren't the first of their request.
func told(c *Conn, talks []talk) []string {
	var out []string
	for _, t := range talks {
		arrow, pass := "<", c.Down
		if t.up {
			arrow, pass = ">", c.Up
		}
		for _, f := range pass([]byte(t.data)) {
			text := fmt.Sprintf("%s %v %d %s", arrow, f.Kind, f.ID, f.Text)
			if f.Kind == Request && !f.First {
				text += "+"
			}
			out = append(out, strings.TrimSpace(text))
		}
	}
	return out
}

// bytewise splits each talk into its bytes.
func bytewise(talks []talk) []talk {
	var out []talk
	for _, t := range talks {
		for i := range len(t.data) {
			out = append(out, talk{t.up, t.data[i : i+1]})
		}
	}
	return out
}

func pg(kind string, body ...string) string {
	text := strings.Join(body, "\x00")
	if len(body) > 0 {
		text += "\x00"
	}
	return kind + string(binary.BigEndian.AppendUint32(nil, uint32(len(text)+4))) + text
}

func startup(word uint32, body string) string {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(body)+8))
	return string(binary.BigEndian.AppendUint32(b, word)) + body
}

// jute is a frame of numbers, and of text behind its length.
func jute(parts ...any) string {
	var b []byte
	for _, p := range parts {
		switch p := p.(type) {
		case int:
			b = binary.BigEndian.AppendUint32(b, uint32(p))
		case int64:
			b = binary.BigEndian.AppendUint64(b, uint64(p))
		case string:
			b = append(binary.BigEndian.AppendUint32(b, uint32(len(p))), p...)
		}
	}
	return string(append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...))
}

func h2(kind, flags byte, stream uint32, body string) string {
	b := []byte{byte(len(body) >> 16), byte(len(body) >> 8), byte(len(body)), kind, flags}
	return string(binary.BigEndian.AppendUint32(b, stream)) + body
}

func grpc(message []byte) string {
	return string(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message)))) + string(message)
}

// encoder makes blocks of headers of one connection.
type encoder struct {
	bytes.Buffer
	*hpack.Encoder
}

func newEncoder() *encoder {
	e := &encoder{}
	e.Encoder = hpack.NewEncoder(&e.Buffer)
	return e
}

func (e *encoder) path(p string) string {
	e.Reset()
	e.WriteField(hpack.HeaderField{Name: ":method", Value: "POST"})
	e.WriteField(hpack.HeaderField{Name: ":path", Value: p})
	return e.String()
}

func protobuf(number protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(nil, number, protowire.VarintType), v)
}

func talks() map[string]struct {
	protocol string
	talks    []talk
	want     []string
} {
	type row = struct {
		protocol string
		talks    []talk
		want     []string
	}
	e := newEncoder()
	events := protowire.AppendBytes(protowire.AppendTag(nil, eventsField, protowire.BytesType), []byte("x"))
	return map[string]row{
		"commands and replies, sent ahead": {RESP, []talk{
			up("*2\r\n$3\r\nget\r\n$1\r\na\r\n*1\r\n$4\r\nPING\r\n"), up("set k v\r\n\r\n"),
			down("$-1\r\n+PONG\r\n"), down("%1\r\n+a\r\n*2\r\n:1\r\n$0\r\n\r\n"), down("-ERR unasked\r\n")},
			[]string{"> request 1 GET a", "> request 2 PING", "> request 3 SET k v", "> other 0", "< reply 1", "< reply 2", "< reply 3", "< other 0"}},
		"attributes belong to their reply": {RESP, []talk{up("GET a\r\n"), down("|1\r\n+ttl\r\n:5\r\n$1\r\nx\r\n")},
			[]string{"> request 1 GET a", "< reply 1"}},
		"messages of version 2": {RESP, []talk{
			up("SUBSCRIBE ch\r\n"), down("*3\r\n$9\r\nsubscribe\r\n$2\r\nch\r\n:1\r\n"), down("*3\r\n$7\r\nmessage\r\n$2\r\nch\r\n$2\r\nhi\r\n"),
			up("PING\r\n"), down("*2\r\n$4\r\npong\r\n$0\r\n\r\n"), up("UNSUBSCRIBE ch\r\n"), down("*3\r\n$11\r\nunsubscribe\r\n$2\r\nch\r\n:0\r\n"),
			up("LRANGE l 0 -1\r\n"), down("*1\r\n$7\r\nmessage\r\n")},
			[]string{"> request 0 SUBSCRIBE ch", "< other 0", "< push 0 message ch hi", "> request 1 PING", "< reply 1", "> request 0 UNSUBSCRIBE ch", "< other 0",
				"> request 2 LRANGE l 0 -1", "< reply 2"}},
		"messages of version 3, between replies": {RESP, []talk{
			up("HELLO 3\r\nSUBSCRIBE ch\r\n"), down("%0\r\n>3\r\n+subscribe\r\n+ch\r\n:1\r\n"), up("LRANGE l 0 -1\r\n"),
			down(">3\r\n+message\r\n+ch\r\n+hi\r\n"), down("*1\r\n+message\r\n")},
			[]string{"> request 1 HELLO 3", "> request 0 SUBSCRIBE ch", "< reply 1", "< other 0", "> request 2 LRANGE l 0 -1", "< push 0 message ch hi", "< reply 2"}},
		"simple and extended queries": {Postgres, []talk{
			up(startup(tlsRequest, "")), down("N"), up(startup(196608, "user\x00x\x00\x00")), down(pg("R") + pg("S", "a", "b") + pg("Z")),
			up(pg("Q", "SELECT  pg_try_advisory_lock(1)")), down(pg("T") + pg("N", "psst") + pg("D") + pg("C", "x") + pg("Z")),
			up(pg("P", "s1", "SELECT\n2") + pg("D", "Ss1") + pg("S")), down(pg("1") + pg("Z")), up(pg("B", "", "s1", "") + pg("E", "") + pg("S")), down(pg("2") + pg("C", "x") + pg("Z")),
			down(pg("A", "pid\x01ch", "hello")), down(pg("E", "FATAL")), up(pg("X"))},
			[]string{"> other 0", "< other 0", "> other 0", "< other 0", "< other 0", "< other 0",
				"> request 1 SELECT pg_try_advisory_lock(1)", "< reply 1", "< other 0", "< reply 1", "< reply 1", "< reply 1",
				"> request 2 SELECT 2", "> request 2 +", "> request 2 +", "< reply 2", "< reply 2", "> request 3 SELECT 2", "> request 3 +", "> request 3 +", "< reply 3", "< reply 3", "< reply 3",
				"< push 0 ch hello", "< other 0", "> other 0"}},
		"sent ahead of replies": {Postgres, []talk{up(startup(196608, "")), down(pg("Z")), up(pg("Q", "a") + pg("Q", "b")), down(pg("Z") + pg("Z"))},
			[]string{"> other 0", "< other 0", "> request 1 a", "> request 2 b", "< reply 1", "< reply 2"}},
		"operations, pings and events": {ZooKeeper, []talk{
			up(jute(0, int64(0), 1000, int64(0), "")), down(jute(0, 1000, int64(77), "secretsecretpass")),
			up(jute(1, 1, "/locktest/a", "v")), up(jute(-2, 11)), up(jute(2, 8, "/locktest", 1)), down(jute(-2, int64(0), 0)), down(jute(1, int64(9), 0, "/locktest/a")),
			down(jute(-1, int64(-1), 0, 2, 3, "/locktest/a")), down(jute(2, int64(9), -101)), up(jute(3, -11))},
			[]string{"> other 0", "< other 0", "> request 1 create /locktest/a", "> other 0", "> request 2 getChildren /locktest", "< other 0", "< reply 1",
				"< push 0 NodeDeleted /locktest/a", "< reply 2", "> request 3 closeSession"}},
		"calls, watches and leases": {HTTP2, []talk{
			up(preface + h2(4, 0, 0, "")), down(h2(4, 0, 0, "")),
			up(h2(headersFrame, endHeaders, 1, e.path("/etcdserverpb.KV/Txn")) + h2(dataFrame, endStream, 1, grpc([]byte{8, 1}))),
			up(h2(headersFrame, 0, 3, e.path("/etcdserverpb.Watch/Watch")) + h2(continuationFrame, endHeaders, 3, "")), up(h2(dataFrame, 0, 3, grpc(nil))),
			down(h2(headersFrame, endHeaders, 1, "x") + h2(dataFrame, 0, 1, grpc([]byte{8, 1})) + h2(headersFrame, endHeaders|endStream, 1, "y")),
			down(h2(dataFrame, 0, 3, grpc(protobuf(3, 1)))), down(h2(dataFrame, padded, 3, "\x02"+grpc(events)+"\x00\x00")), down(h2(dataFrame, 0, 1, "late"))},
			[]string{"> other 0", "> other 0", "< other 0", "> other 0", "> request 1 KV/Txn", "> other 0", "> other 0", "> request 3 Watch/Watch", "< reply 1", "< reply 1", "< reply 1",
				"< reply 3", "< push 0 Watch/Watch", "< other 0"}},
	}
}

func TestFrames(t *testing.T) {
	for name, tt := range talks() {
		t.Run(name, func(t *testing.T) {
			for how, given := range map[string][]talk{"as sent": tt.talks, "byte by byte": bytewise(tt.talks)} {
				c, ok := New(tt.protocol)
				if !ok {
					t.Fatal("unknown protocol")
				}
				if diff := cmp.Diff(tt.want, told(c, given)); diff != "" {
					t.Errorf("%s (-want +got):\n%s", how, diff)
				}
				if c.Lost() {
					t.Errorf("%s: lost", how)
				}
			}
		})
	}
}

// What is none of a protocol passes from then on, in whole and at once.
func TestLost(t *testing.T) {
	for name, tt := range map[string]struct {
		protocol string
		talks    []talk
	}{
		"a reply of no type":                   {RESP, []talk{up("GET a\r\n"), down("hello\r\n"), down("x")}},
		"a bulk without an end":                {RESP, []talk{down("$1\r\nabc"), down("x")}},
		"nested too deep":                      {RESP, []talk{down(strings.Repeat("*1\r\n", deepest+2)), down("x")}},
		"monitoring":                           {RESP, []talk{up("MONITOR\r\n"), down("+OK\r\n"), down("+1 [0] \"x\"")}},
		"replication":                          {RESP, []talk{up("PSYNC ? -1\r\n"), down("+FULLRESYNC x"), down("x")}},
		"encryption":                           {Postgres, []talk{up(startup(tlsRequest, "")), down("S"), up("\x16\x03\x01"), down("\x16")}},
		"no startup":                           {Postgres, []talk{up("GET / HTTP/1.1\r\n"), down("x")}},
		"four letters":                         {ZooKeeper, []talk{up("ruok"), down("imok")}},
		"HTTP/1":                               {HTTP2, []talk{up("GET / HTTP/1.1\r\n"), down("x")}},
		"headers in pieces of several streams": {HTTP2, []talk{up(preface), up(h2(headersFrame, 0, 1, "")), up(h2(continuationFrame, endHeaders, 3, "")), up("x"), down("y")}},
		"a message without an end":             {RESP, []talk{down("+" + strings.Repeat("x", longest)), down("x")}},
	} {
		t.Run(name, func(t *testing.T) {
			c, _ := New(tt.protocol)
			var sent, got [2]string
			for _, k := range tt.talks {
				side, pass := 0, c.Down
				if k.up {
					side, pass = 1, c.Up
				}
				sent[side] += k.data
				for _, f := range pass([]byte(k.data)) {
					got[side] += string(f.Data)
				}
			}
			if !c.Lost() || got != sent {
				t.Errorf("lost: %v; what passed: %.80q, want %.80q", c.Lost(), got, sent)
			}
		})
	}
}

func TestSessions(t *testing.T) {
	z, _ := New(ZooKeeper)
	z.Up([]byte(jute(0, int64(0), 1000, int64(0), "")))
	z.Down([]byte(jute(0, 1000, int64(77), "0123456789abcdef")))
	if diff := cmp.Diff([]Session{{77, []byte("0123456789abcdef")}}, z.Sessions()); diff != "" {
		t.Errorf("of ZooKeeper (-want +got):\n%s", diff)
	}
	refused, _ := New(ZooKeeper)
	refused.Down([]byte(jute(0, 0, int64(0), "0123456789abcdef")))
	e, enc := newHTTP2(), newEncoder()
	c := &Conn{p: e}
	c.Up([]byte(preface + h2(headersFrame, endHeaders, 1, enc.path("/etcdserverpb.Lease/LeaseGrant")) + h2(headersFrame, endHeaders, 3, enc.path("/etcdserverpb.KV/Put"))))
	c.Down([]byte(h2(dataFrame, 0, 3, grpc(protobuf(idField, 5))) + h2(dataFrame, 0, 1, grpc(append(protobuf(idField, 123456), protobuf(3, 2)...)))))
	if diff := cmp.Diff([]Session{{ID: 123456}}, c.Sessions()); diff != "" {
		t.Errorf("of etcd (-want +got):\n%s", diff)
	}
	c.Up([]byte(h2(headersFrame, endHeaders, 5, enc.path("/etcdserverpb.Lease/LeaseRevoke")) + h2(dataFrame, endStream, 5, grpc(protobuf(revokedField, 123456)))))
	if left := c.Sessions(); len(left) > 0 {
		t.Errorf("after its end: %v", left)
	}
	if r, _ := New(RESP); len(r.Sessions()) > 0 || len(refused.Sessions()) > 0 {
		t.Error("sessions where none was granted")
	}
}

func TestCan(t *testing.T) {
	for _, p := range []string{RESP, Postgres, ZooKeeper, HTTP2} {
		for _, d := range []Deed{Drop, Delay, Hold, Reset} {
			for _, k := range []Kind{Request, Reply, Push} {
				want := d != Drop || k == Push || k == Reply && p != HTTP2
				if err := Can(p, d, k); (err == nil) != want {
					t.Errorf("%s %s of %s: %v", d, k, p, err)
				}
			}
		}
	}
	if Can("smtp", Hold, Request) == nil {
		t.Error("a protocol that isn't known is not refused")
	}
}

// Whatever passes, no byte is changed, lost or moved, and how it was cut into pieces says nothing about what it is.
func FuzzFrames(f *testing.F) {
	for _, tt := range talks() {
		var a, b string
		for _, k := range tt.talks {
			if k.up {
				a += k.data
			} else {
				b += k.data
			}
		}
		for i, p := range []string{RESP, Postgres, ZooKeeper, HTTP2} {
			if p == tt.protocol {
				f.Add(byte(i), []byte(a), []byte(b), uint16(3))
			}
		}
	}
	f.Fuzz(func(t *testing.T, which byte, a, b []byte, piece uint16) {
		name := []string{RESP, Postgres, ZooKeeper, HTTP2}[which%4]
		whole, _ := New(name)
		pieces, _ := New(name)
		for i, side := range [][]byte{a, b} {
			feed := func(c *Conn, data []byte) []Frame {
				if i == 0 {
					return c.Up(data)
				}
				return c.Down(data)
			}
			once := feed(whole, side)
			var often []Frame
			for rest := side; len(rest) > 0; {
				n := min(len(rest), int(piece)+1)
				often, rest = append(often, feed(pieces, rest[:n])...), rest[n:]
			}
			rest := [][]byte{whole.UpRest(), pieces.UpRest()}
			if i == 1 {
				rest = [][]byte{whole.DownRest(), pieces.DownRest()}
			}
			if got := append(joined(once), rest[0]...); !bytes.Equal(got, side) {
				t.Fatalf("%s at once: %q became %q", name, side, got)
			}
			if got := append(joined(often), rest[1]...); !bytes.Equal(got, side) {
				t.Fatalf("%s in pieces: %q became %q", name, side, got)
			}
			for n := range min(len(once), len(often)) {
				if x, y := once[n], often[n]; x.Kind != Other && (x.Kind != y.Kind || x.ID != y.ID || x.Text != y.Text || !bytes.Equal(x.Data, y.Data)) {
					t.Fatalf("%s: frame %d is %+v at once, %+v in pieces", name, n, x, y)
				}
			}
		}
	})
}

func joined(frames []Frame) []byte {
	var out []byte
	for _, f := range frames {
		out = append(out, f.Data...)
	}
	return out
}

package clients

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/locktest/locktest/internal/flatjson"
	"github.com/locktest/locktest/internal/monotime"
	"github.com/locktest/locktest/locks"
)

// Version of the protocol, schema locktest.client/1.
const Version = 1

// ProtocolSchema names it.
const ProtocolSchema = "locktest.client/1"

// maxLine bounds a line of the protocol.
const maxLine = 1 << 20

// hello is the first request: what the client is to be.
type hello struct {
	ID      int64          `json:"id"`
	Op      Op             `json:"op"`
	V       int            `json:"v"`
	Client  string         `json:"client"`
	Options map[string]any `json:"options,omitempty"`
}

type wireRequest struct {
	ID       int64     `json:"id"`
	Op       Op        `json:"op"`
	Thread   int       `json:"thread,omitempty"`
	Grant    int       `json:"grant,omitempty"`
	Lock     string    `json:"lock,omitempty"`
	TTL      int64     `json:"ttl_ms,omitempty"`
	Wait     *int64    `json:"wait_ms,omitempty"` // of acquire, 0 too
	Mode     string    `json:"mode,omitempty"`
	Permits  int       `json:"permits,omitempty"`
	Target   int64     `json:"target,omitempty"`
	Resource string    `json:"resource,omitempty"`
	Base     int64     `json:"base,omitempty"`
	Token    wireToken `json:"token,omitempty"`
	Value    int64     `json:"value,omitempty"`
	N        int64     `json:"n,omitempty"`
}

// wireReply is what a client writes: a reply has an id, an event has none.
type wireReply struct {
	ID      *int64     `json:"id,omitempty"`
	R       Result     `json:"r,omitempty"`
	Token   *wireToken `json:"token,omitempty"`
	Owner   string     `json:"owner,omitempty"`
	TTL     int64      `json:"ttl_ms,omitempty"`
	Valid   *float64   `json:"valid_ms,omitempty"` // from the call of the request
	Until   int64      `json:"until_ns,omitempty"` // of the system's monotonic clock
	Error   string     `json:"error,omitempty"`
	Value   int64      `json:"value,omitempty"` // of read
	N       int64      `json:"n,omitempty"`     // of read
	Handle  bool       `json:"handle,omitempty"`
	Name    string     `json:"name,omitempty"` // of hello
	Version string     `json:"version,omitempty"`
	Caps    []string   `json:"caps,omitempty"`

	Event EventKind `json:"event,omitempty"`
	Grant int       `json:"grant,omitempty"`
	Lock  string    `json:"lock,omitempty"`
	Late  float64   `json:"late_ms,omitempty"`
}

// wireToken is an integer, or a decimal string for numbers that some languages can't hold.
type wireToken locks.Token

func (t *wireToken) UnmarshalJSON(b []byte) error {
	v, err := strconv.ParseUint(string(bytes.Trim(b, `"`)), 10, 64)
	if err != nil {
		return fmt.Errorf("token %s is not a whole number from 0 to 2^64-1", b)
	}
	*t = wireToken(v)
	return nil
}

func encodeRequest(r Request) []byte {
	b := strconv.AppendInt([]byte(`{"id":`), r.ID, 10)
	b = flatjson.AppendString(b, "op", string(r.Op))
	b = flatjson.AppendInt(b, "thread", int64(r.Thread))
	b = flatjson.AppendInt(b, "grant", int64(r.Grant))
	b = flatjson.AppendString(b, "lock", r.Lock)
	b = flatjson.AppendInt(b, "ttl_ms", r.TTL.Milliseconds())
	if r.Op == OpAcquire { // 0 too: it tries once
		b = strconv.AppendInt(append(b, `,"wait_ms":`...), r.Wait.Milliseconds(), 10)
	}
	b = flatjson.AppendString(b, "mode", r.Mode)
	b = flatjson.AppendInt(b, "permits", int64(r.Permit))
	b = flatjson.AppendInt(b, "target", r.Target)
	b = flatjson.AppendString(b, "resource", r.Resource)
	b = appendToken(b, r.Token)
	b = flatjson.AppendInt(b, "base", r.Base)
	b = flatjson.AppendInt(b, "value", r.Value)
	b = flatjson.AppendInt(b, "n", r.N)
	return append(b, '}', '\n')
}

func decodeRequest(b []byte) (Request, error) {
	var w wireRequest
	if err := json.Unmarshal(b, &w); err != nil {
		return Request{}, err
	}
	if w.Op == "" {
		return Request{}, errors.New("no op")
	}
	r := Request{ID: w.ID, Op: w.Op, Thread: w.Thread, Grant: w.Grant, Lock: w.Lock, TTL: millis(w.TTL), Mode: w.Mode, Permit: w.Permits,
		Target: w.Target, Resource: w.Resource, Token: uint64(w.Token), Base: w.Base, Value: w.Value, N: w.N}
	if w.Wait != nil {
		r.Wait = millis(*w.Wait)
	}
	return r, nil
}

// millis turns a number of milliseconds into a duration, within what a duration can hold.
func millis(ms int64) time.Duration {
	const most = int64(math.MaxInt64 / time.Millisecond)
	return time.Duration(min(max(ms, -most), most)) * time.Millisecond
}

// encodeReply is for our own clients, which say until when by the system's clock.
func encodeReply(r Reply) []byte {
	b := strconv.AppendInt([]byte(`{"id":`), r.ID, 10)
	b = flatjson.AppendString(b, "r", string(r.Result))
	b = appendToken(b, uint64(r.Token))
	b = flatjson.AppendString(b, "owner", r.Owner)
	b = flatjson.AppendInt(b, "ttl_ms", r.TTL.Milliseconds())
	b = flatjson.AppendInt(b, "until_ns", onSystemClock(r.Until))
	b = flatjson.AppendString(b, "error", r.Error)
	b = flatjson.AppendInt(b, "value", r.Value)
	b = flatjson.AppendInt(b, "n", r.N)
	if r.Handle {
		b = append(b, `,"handle":true`...)
	}
	return append(b, '}', '\n')
}

// appendToken writes more than some languages can hold as a number as a text.
func appendToken(b []byte, token uint64) []byte {
	if token > 1<<53 {
		return flatjson.AppendString(b, "token", strconv.FormatUint(token, 10))
	}
	return flatjson.AppendUint(b, "token", token)
}

func encodeEvent(e Event) []byte {
	return line(wireReply{Event: e.Kind, Grant: e.Grant, Lock: e.Lock, Until: onSystemClock(e.Until), Late: float64(e.Late) / float64(time.Millisecond)})
}

func onSystemClock(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return int64(monotime.Now() + time.Until(t))
}

// fromSystemClock is for this process, whose own clock nobody bends.
func fromSystemClock(ns int64) time.Time {
	if ns == 0 {
		return time.Time{}
	}
	return time.Now().Add(time.Duration(ns) - monotime.Now())
}

func line(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("protocol: %v", err)) // only plain fields
	}
	return append(b, '\n')
}

// message is a line from a client, as the harness understands it: a reply or an event.
type message struct {
	reply Reply
	event *Event
	valid *float64 // milliseconds from the request's call, where the client says it so
	hello wireReply
}

// hearer reads the messages of one client.
type hearer struct {
	client  string
	scanner flatjson.Scanner
}

func (h *hearer) message(b []byte) (message, error) {
	if r, ok := h.plainReply(b); ok {
		return message{reply: r}, nil
	}
	return generalMessage(b, h.client)
}

func generalMessage(b []byte, client string) (message, error) {
	var w wireReply
	if err := json.Unmarshal(b, &w); err != nil {
		return message{}, err
	}
	switch {
	case w.Event != "":
		return message{event: &Event{Kind: w.Event, Client: client, Grant: w.Grant, Lock: w.Lock, Until: fromSystemClock(w.Until), Late: milliseconds(w.Late)}}, nil
	case w.ID == nil:
		return message{}, errors.New("neither an id nor an event")
	}
	m := message{valid: w.Valid, hello: w}
	m.reply = Reply{ID: *w.ID, Result: known(w.R), Owner: w.Owner, TTL: millis(w.TTL), Until: fromSystemClock(w.Until), Error: w.Error, Handle: w.Handle, Value: w.Value, N: w.N}
	if w.Token != nil {
		m.reply.Token = locks.Token(*w.Token)
	}
	return m, nil
}

// plainReply reads a reply as our own clients write it; what has anything else is left to the general way.
func (h *hearer) plainReply(b []byte) (r Reply, ok bool) {
	s := &h.scanner
	var id, until, ttl int64
	hasID := false
	err := s.Object(b, func(key string) (err error) {
		switch key {
		case "id":
			hasID = true
			id, err = s.Int64()
		case "r":
			err = flatjson.StringAs(s, &r.Result)
		case "token":
			var t uint64
			t, err = s.Uint64()
			r.Token = locks.Token(t)
		case "owner":
			r.Owner, err = s.String()
		case "ttl_ms":
			ttl, err = s.Int64()
		case "until_ns":
			until, err = s.Int64()
		case "error":
			r.Error, err = s.String()
		case "value":
			r.Value, err = s.Int64()
		case "n":
			r.N, err = s.Int64()
		default:
			err = errNotPlain
		}
		return err
	})
	r.ID, r.Result, r.TTL, r.Until = id, known(r.Result), millis(ttl), fromSystemClock(until)
	return r, err == nil && hasID
}

var errNotPlain = errors.New("not a plain reply")

// known takes every word that the protocol doesn't have as unknown: the safe outcome is the default.
func known(r Result) Result {
	switch r {
	case OK, Busy, Lost, Rejected, Unavailable:
		return r
	}
	return Unknown
}

func milliseconds(ms float64) time.Duration {
	return time.Duration(min(max(ms, -1e12), 1e12) * float64(time.Millisecond))
}

package history

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

// logLine is one operation as a service can log it in production. Times are RFC 3339 or seconds since 1970.
type logLine struct {
	Op     string          `json:"op"`     // acquire, extend, release, lost, crash
	Lock   string          `json:"lock"`   // its name; a crash has none
	Client string          `json:"client"` // who: does one thing at a time
	Start  json.RawMessage `json:"start"`  // before the request was sent
	End    json.RawMessage `json:"end"`    // after the answer had come; left out: nobody knows what became of it
	Result string          `json:"result"` // ok (or left out), busy, not-held, gone, failed, unknown
	Owner  string          `json:"owner"`  // what the service compares
	Token  uint64          `json:"token"`
	TTL    float64         `json:"ttl"`         // seconds
	Valid  json.RawMessage `json:"valid_until"` // until when the client believed that its lease lasts
}

// ReadLog reads one JSON object a line, in any order: logs of several hosts may simply be put together. Each acquire of
// a client begins a grant, to which its later operations on that lock belong; one with "op": "crash" is the death of its
// client. A client that is not heard of again is presumed dead when its lease ends. c states the contract; the bound on the
// clocks' error is the caller's to set in the header.
func ReadLog(r io.Reader, c Contract) (*History, error) {
	sc := bufio.NewScanner(r)
	sc.Buffer(make([]byte, 1<<16), maxLine)
	l := &logReader{foreign: newForeign(c)}
	n := 1
	for ; sc.Scan(); n++ {
		if line := bytes.TrimSpace(sc.Bytes()); len(line) > 0 {
			if err := l.line(line, n); err != nil {
				return nil, fmt.Errorf("line %d: %w: %w", n, ErrFormat, err)
			}
		}
	}
	if err := sc.Err(); err != nil {
		return nil, fmt.Errorf("line %d: %w", n, scanned(err))
	}
	return l.sorted()
}

type logReader struct {
	*foreign
	list  []logEvent
	first time.Time
}

// logEvent is a call or an answer, with its line.
type logEvent struct {
	at     time.Time
	answer bool
	n      int
	op     Op
}

func (l *logReader) line(line []byte, n int) error {
	var x logLine
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&x); err != nil {
		return err
	}
	if rest := bytes.TrimSpace(line[d.InputOffset():]); len(rest) > 0 {
		return fmt.Errorf("something follows the object: %.40q: expected one object a line", rest)
	}
	start, err := logTime("start", x.Start)
	if err != nil {
		return err
	}
	op, err := x.event(start)
	if err != nil {
		return err
	}
	if op.Type != Crash {
		l.lock(x.Lock)
	}
	if l.first.IsZero() || start.Before(l.first) {
		l.first = start
	}
	if op.Type != Invoke {
		l.list = append(l.list, logEvent{start, false, n, op})
		return nil
	}
	return l.answer(&x, op, start, n)
}

// event is the call, or the single event.
func (x *logLine) event(start time.Time) (Op, error) {
	op := Op{Type: Invoke, F: F(x.Op), Client: x.Client, Lock: x.Lock, Owner: x.Owner, TTL: time.Duration(x.TTL * float64(time.Second))}
	switch {
	case x.Op == string(Crash):
		return x.crash()
	case x.Op == string(Lost):
		op.Type, op.F = Lost, ""
	case op.F != Acquire && op.F != Extend && op.F != Release:
		return op, fmt.Errorf("op is %q, want acquire, extend, release, lost or crash", x.Op)
	case x.TTL < 0 || x.TTL > 1e6:
		return op, fmt.Errorf("ttl is %v seconds", x.TTL)
	}
	if x.Client == "" || x.Lock == "" {
		return op, fmt.Errorf("client and lock must be named")
	}
	return op, nil
}

// crash is the death of a client, whatever it held.
func (x *logLine) crash() (Op, error) {
	op := Op{Type: Crash, Client: x.Client}
	switch {
	case x.Client == "":
		return op, errors.New("client must be named")
	case x.Lock != "":
		return op, errors.New("a crash is of a client: expected no lock")
	}
	return op, nil
}

// answer adds the call and, unless nobody knows it, its answer.
func (l *logReader) answer(x *logLine, op Op, start time.Time, n int) error {
	l.list = append(l.list, logEvent{start, false, n, op})
	done := op
	switch result := cmp.Or(x.Result, "ok"); result {
	case "ok":
		done.Type, done.Token = OK, x.Token
	case string(Busy), string(NotHeld):
		done.Type, done.Outcome = Fail, Outcome(result)
	case string(Gone):
		done.Type, done.Outcome = OK, Gone
	case "failed":
		done.Type = Fail
	case "unknown":
		done.Type = Info
	default:
		return fmt.Errorf("result is %q, want ok, busy, not-held, gone, failed or unknown", x.Result)
	}
	end := start
	if len(x.End) == 0 {
		done = op
		done.Type = Info
	} else if t, err := logTime("end", x.End); err != nil {
		return err
	} else if end = t; end.Before(start) {
		return fmt.Errorf("it ends before it starts")
	}
	if len(x.Valid) > 0 && done.Type == OK {
		valid, err := logTime("valid_until", x.Valid)
		if err != nil {
			return err
		}
		done.Valid = valid.Sub(end) // made absolute once the first time of all is known
	}
	l.list = append(l.list, logEvent{end, true, n, done})
	return nil
}

// sorted puts the lines in the order of time, and refuses a client that does two things at once.
func (l *logReader) sorted() (*History, error) {
	slices.SortStableFunc(l.list, func(a, b logEvent) int {
		return cmp.Or(a.at.Compare(b.at), cmp.Compare(order(a), order(b)))
	})
	for _, e := range l.list {
		op := e.op
		op.Time = e.at.Sub(l.first)
		if op.Valid != 0 {
			op.Valid += op.Time
		}
		o, busy := l.open[op.Client]
		switch {
		case e.answer:
			op.Grant = o.op.Grant
			l.stepBack(&op, o.before)
			delete(l.open, op.Client)
		case op.Type == Invoke && busy:
			return nil, fmt.Errorf("line %d: %w: %s begins an operation before its last one, of %s, had ended", e.n, ErrFormat, op.Client, o.place)
		case op.Type == Invoke:
			before := l.belong(&op)
			l.open[op.Client] = waiting{op, fmt.Sprintf("line %d", e.n), before}
		default:
			l.belong(&op)
		}
		l.events = append(l.events, op)
	}
	return l.history()
}

// order keeps a call before its own answer, and an earlier line's answer before a later line's call of the same time.
func order(e logEvent) int {
	n := 2 * e.n
	if e.answer {
		n++
	}
	return n
}

func logTime(name string, raw json.RawMessage) (time.Time, error) {
	var s string
	if json.Unmarshal(raw, &s) == nil && s != "" {
		t, err := time.Parse(time.RFC3339Nano, s)
		if err != nil {
			return t, fmt.Errorf("%s: %q is not as in 2026-01-31T12:00:00.123Z", name, s)
		}
		return t, nil
	}
	number := strings.TrimSpace(string(raw))
	whole, part, _ := strings.Cut(number, ".")
	sec, err := strconv.ParseUint(whole, 10, 34)
	if err != nil {
		return time.Time{}, fmt.Errorf("%s: %s is neither a time nor seconds since 1970", name, cmp.Or(number, "nothing"))
	}
	nano, err := strconv.ParseUint((part + "000000000")[:9], 10, 32)
	if err != nil {
		return time.Time{}, fmt.Errorf("%s: %s is no number of seconds", name, number)
	}
	return time.Unix(int64(sec), int64(nano)), nil
}

package history

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"regexp"
	"slices"
	"time"
)

// Format is a form in which histories come.
type Format string

// The forms that Import tells apart by how they begin.
const (
	FormatJSONL   Format = "jsonl"   // our own
	FormatText    Format = "text"    // our own short form
	FormatEDN     Format = "edn"     // Jepsen's and Knossos'
	FormatAtlasDB Format = "atlasdb" // a JSON array of AtlasDB's Jepsen tests
	FormatLog     Format = "log"     // one JSON object an operation, as a service can log in production
)

// Import reads a history in any of the forms. c is what the lock promises, where the form doesn't say: without it no
// lock can be judged. Errors name the line, or the number of the record.
func Import(r io.Reader, c Contract) (*History, Format, error) {
	length := lengthOf(r)
	br := bufio.NewReaderSize(r, 1<<16)
	start, err := br.Peek(1 << 16)
	if err != nil && err != io.EOF && err != bufio.ErrBufferFull {
		return nil, "", err
	}
	f := detect(start)
	if err := c.sense(); err != nil {
		return nil, f, fmt.Errorf("what the lock promises: %w", err)
	}
	if len(bytes.TrimSpace(start)) == 0 {
		return nil, f, fmt.Errorf("%w: the file is empty: it has no history", ErrFormat)
	}
	var h *History
	switch f {
	case FormatJSONL:
		h, err = readJSONL(br, length)
	case FormatEDN:
		h, err = ReadEDN(br, c)
	case FormatAtlasDB:
		h, err = ReadAtlasDB(br, c)
	case FormatLog:
		h, err = ReadLog(br, c)
	default:
		if !textual(start) {
			return nil, f, fmt.Errorf("%w: it is in no form that is known: JSON lines of locktest, Jepsen's EDN, AtlasDB's JSON array, or a log with one JSON object an operation (docs/history.md)", ErrFormat)
		}
		h, err = ParseText(br)
	}
	if err == nil && f != FormatJSONL && len(h.Ops) == 0 { // a run of ours can be killed before its first event
		return nil, f, fmt.Errorf("%w: no operation is in it: there is no history", ErrFormat)
	}
	return h, f, err
}

// textWord is how a word of the text form begins.
var textWord = regexp.MustCompile(`^[^:\[\]]*:[^:\[\]]+\[`)

// textual says whether the first line that is no comment can be one of the text form. Where that is too far away it can.
func textual(start []byte) bool {
	for line := range bytes.Lines(start) {
		line, _, _ = bytes.Cut(line, []byte("#"))
		words := bytes.Fields(line)
		if len(words) == 0 {
			continue
		}
		_, header := headerReaders()[string(words[0])]
		return header || textWord.Match(words[0])
	}
	return true
}

func detect(start []byte) Format {
	s := bytes.TrimLeft(start, " \t\r\n")
	line, _, _ := bytes.Cut(s, []byte("\n"))
	inner := bytes.TrimLeft(bytes.TrimPrefix(s, []byte("[")), " \t\r\n")
	switch {
	case bytes.HasPrefix(inner, []byte("{:")), bytes.HasPrefix(inner, []byte("#")) && bytes.Contains(line, []byte(":type")):
		return FormatEDN
	case bytes.HasPrefix(s, []byte("[")):
		return FormatAtlasDB
	case bytes.HasPrefix(s, []byte("{")) && bytes.Contains(line, []byte(`"schema"`)):
		return FormatJSONL
	case bytes.HasPrefix(s, []byte("{")):
		return FormatLog
	}
	return FormatText
}

// foreign puts a history together from records that know nothing of our rules.
type foreign struct {
	h      *History
	c      Contract
	locks  map[string]bool
	open   map[string]waiting
	last   map[string]time.Duration // of each client
	newest map[seat]int             // grants
	grants int
	events []Op
}

// seat is a client's place at a lock.
type seat struct{ client, lock string }

// waiting is an operation that has not been answered, and where it stood.
type waiting struct {
	op     Op
	place  string
	before int // the grant that was the newest before an acquire; 0: none
}

func newForeign(c Contract) *foreign {
	return &foreign{
		h: &History{Header: Header{Schema: Schema}}, c: c, locks: map[string]bool{}, open: map[string]waiting{}, last: map[string]time.Duration{},
		newest: map[seat]int{},
	}
}

func (f *foreign) lock(name string) string {
	if !f.locks[name] {
		f.locks[name] = true
		f.h.Header.Locks = append(f.h.Header.Locks, Lock{Name: name, Provider: "import", Contract: f.c})
	}
	return name
}

func (f *foreign) invoke(op Op, place string) error {
	if o, busy := f.open[op.Client]; busy {
		return fmt.Errorf("%s: %w: %s begins an operation before its last one, at %s, was answered", place, ErrFormat, op.Client, o.place)
	}
	if op.Time < f.last[op.Client] {
		return fmt.Errorf("%s: %w: time runs backwards for %s, from %s to %s", place, ErrFormat, op.Client, f.last[op.Client], op.Time)
	}
	op.Type = Invoke
	before := f.belong(&op)
	f.open[op.Client] = waiting{op, place, before}
	f.events = append(f.events, op)
	return nil
}

// belong numbers the grant of what a client calls or learns: an acquire begins one, the rest belongs to its newest on
// that lock. A release or an extend of what was never asked for has a number of its own. before is the newest until now.
func (f *foreign) belong(op *Op) (before int) {
	at := seat{op.Client, op.Lock}
	before = f.newest[at]
	if op.F == Acquire || before == 0 && op.Type == Invoke {
		f.grants++
		f.newest[at] = f.grants
	}
	op.Grant = f.newest[at]
	return before
}

// stepBack makes the grant before it the newest again when an acquire was refused: what its client releases then is
// what it had before.
func (f *foreign) stepBack(op *Op, before int) {
	if op.F == Acquire && op.Type == Fail {
		f.newest[seat{op.Client, op.Lock}] = before
	}
}

// answered completes what client has open; the answer carries what the call said.
func (f *foreign) answered(client, place string, at time.Duration, typ Type, fill func(*Op)) error {
	o, ok := f.open[client]
	if !ok {
		return fmt.Errorf("%s: %w: %s answers an operation that it has not begun", place, ErrFormat, client)
	}
	if at < o.op.Time {
		return fmt.Errorf("%s: %w: it was answered before it was called, at %s", place, ErrFormat, o.place)
	}
	delete(f.open, client)
	f.last[client] = at
	op := o.op
	op.Type, op.Time = typ, at
	if fill != nil {
		fill(&op)
	}
	f.stepBack(&op, o.before)
	f.events = append(f.events, op)
	return nil
}

// history puts the events in the order of time and numbers them. Records of different clients may come a little out of
// order, as they take their time before they are written.
func (f *foreign) history() (*History, error) {
	f.h.Ops = f.events
	byTime := func(a, b Op) int { return cmp.Compare(a.Time, b.Time) }
	slices.SortStableFunc(f.h.Ops, byTime)
	clients := map[string]bool{}
	for i := range f.h.Ops {
		o := &f.h.Ops[i]
		if err := o.sense(); err != nil {
			return nil, fmt.Errorf("%s of %s at %s: %w", cmp.Or(string(o.F), string(o.Type)), o.Client, o.Time, err)
		}
		if o.Type == Invoke && !clients[o.Client] {
			clients[o.Client] = true
			f.h.Header.Clients = append(f.h.Header.Clients, o.Client)
		}
	}
	slices.SortFunc(f.h.Header.Clients, cmp.Compare[string])
	f.silent()
	slices.SortStableFunc(f.h.Ops, byTime)
	for i := range f.h.Ops {
		f.h.Ops[i].Index = i
	}
	return f.h, nil
}

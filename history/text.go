package history

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// ParseText reads the short form in which histories are written by hand, such as
//
//	lock orders expiry=lease ttl=2s tokens=grant owner-checked release-held validity
//	a:A[0,10]tok=1,valid=2010  a:R[50,60]   # granted, then released
//
// A word is CLIENT:OP[CALL,RETURN] with attributes behind it; c1/2 is a thread of c1. OP is A (acquire), rA (a shared
// one), E (extend), R (release), D (read), W (write). Answers other than OK: B an acquire that was refused, F one that
// failed, X an extend and N a release that were not-held, G a release that was gone, K a read and J a write that were
// rejected, L an acquire that came late. A RETURN of ? is an outcome that nobody knows, ?30 one that was given up at 30.
//
// Single events are CLIENT:lost[30], CLIENT:renewed[30], CLIENT:crash[30], CLIENT:stall[30]; of the run :stall[30] and
// :NAME[30] for a phase, such as :drain[30]; and fault1:begin[5], fault1:end[9], fault1:missed[5].
//
// Times are milliseconds, or durations such as 1.5s. Attributes: lock, grant, own (the owner), tok, ttl, valid, permits,
// mode, on (the resource), v, base, n (a counter's number), job and done (a job's number, run or marked), late, targets (joined by +), kind, text. Without lock the first
// lock is meant; without grant an acquire begins a new one and the rest belongs to the client's newest on that lock.
//
// Lines that begin with lock, resource, fault, bounds, clients, scenario or clock are the header's. # begins a comment.
func ParseText(r io.Reader) (*History, error) {
	p := &textParser{
		h: &History{Header: Header{Schema: Schema}}, newest: map[string]int{},
		kinds: textKinds(), setters: attributeSetters(), headers: headerReaders(),
	}
	sc := bufio.NewScanner(r)
	sc.Buffer(nil, maxLine)
	n := 1
	for ; sc.Scan(); n++ {
		if err := p.line(sc.Text()); err != nil {
			return nil, fmt.Errorf("line %d: %w: %w", n, ErrFormat, err)
		}
	}
	if err := sc.Err(); err != nil {
		return nil, fmt.Errorf("line %d: %w", n, scanned(err))
	}
	if err := p.h.Header.sense(); err != nil {
		return nil, err
	}
	return p.h, p.order()
}

// ParseTextString is ParseText of a string.
func ParseTextString(s string) (*History, error) { return ParseText(strings.NewReader(s)) }

type textParser struct {
	h      *History
	events []textEvent
	newest map[string]int // grants, by client, thread and lock
	grants int

	kinds   map[string]textKind
	setters map[string]func(*Op, string) error
	headers map[string]func(*Header, []string) error
}

// textEvent is an event with where it stood: what is called at a moment comes before what returns then, but what one
// client did stays in the order in which it was written.
type textEvent struct {
	op   Op
	word int
}

func (p *textParser) line(s string) error {
	s, _, _ = strings.Cut(s, "#")
	words := strings.Fields(s)
	if len(words) == 0 {
		return nil
	}
	if read, ok := p.headers[words[0]]; ok {
		return read(&p.h.Header, words[1:])
	}
	for _, w := range words {
		if err := p.word(w); err != nil {
			return fmt.Errorf("%q: %w", w, err)
		}
	}
	return nil
}

// word reads WHO:OP[TIMES]ATTRIBUTES.
func (p *textParser) word(w string) error {
	who, rest, ok := strings.Cut(w, ":")
	what, rest, ok2 := strings.Cut(rest, "[")
	times, attributes, ok3 := strings.Cut(rest, "]")
	if !ok || !ok2 || !ok3 {
		return fmt.Errorf("expected WHO:WHAT[TIMES], such as a:A[0,10]")
	}
	call, ret, pair := strings.Cut(times, ",")
	at, err := textTime(call)
	if err != nil {
		return err
	}
	op := Op{Time: at}
	op.Client, op.Thread, err = textWho(who)
	if err != nil {
		return err
	}
	if pair {
		return p.operation(op, what, ret, attributes)
	}
	return p.single(op, who, what, attributes)
}

// operation adds an invocation and its completion.
func (p *textParser) operation(op Op, what, ret, attributes string) error {
	k, ok := p.kinds[what]
	if !ok {
		return fmt.Errorf("no operation is called %q", what)
	}
	op.F, op.Mode = k.f, k.mode
	end := Op{Type: k.typ, Outcome: k.outcome, Time: op.Time}
	var err error
	switch after, unknown := strings.CutPrefix(ret, "?"); {
	case unknown && after == "":
		end.Type, end.Outcome = Info, ""
	case unknown:
		end.Type, end.Outcome = Info, ""
		end.Time, err = textTime(after)
	default:
		end.Time, err = textTime(ret)
	}
	if err != nil {
		return err
	}
	if end.Time < op.Time {
		return fmt.Errorf("it returns before it is called")
	}
	if err := p.attributes(&op, attributes); err != nil {
		return err
	}
	p.belong(&op)
	done := op
	done.Type, done.Outcome, done.Time = end.Type, end.Outcome, end.Time
	op.Type = Invoke
	op.answerless()
	if done.Type == Info {
		done.Token, done.Valid = 0, 0
	}
	p.add(op)
	p.add(done)
	return nil
}

// answerless takes away what only an answer can tell.
func (o *Op) answerless() {
	o.Token, o.Valid, o.Data = 0, 0, nil
	if o.F == Read {
		o.Value = 0
	}
}

// belong names the lock and the grant of an operation that doesn't say.
func (p *textParser) belong(op *Op) {
	if op.Lock == "" {
		op.Lock = p.firstLock()
	}
	seat := fmt.Sprint(op.Client, "/", op.Thread, " ", op.Lock)
	switch {
	case op.Grant != 0:
	case op.F == Acquire:
		op.Grant = p.grants + 1
	default:
		op.Grant = p.newest[seat]
	}
	p.grants = max(p.grants, op.Grant)
	p.newest[seat] = op.Grant
	if op.Owner == "" {
		op.Owner = op.Client
	}
}

// firstLock is the one that is meant where none is named: an owner-checked mutex L, if the header names none.
func (p *textParser) firstLock() string {
	if len(p.h.Header.Locks) == 0 {
		p.h.Header.Locks = []Lock{{Name: "L", Provider: "text", Contract: Contract{
			Expiry: NoExpiry, Tokens: NoTokens, OwnerChecked: true, ReleaseHeld: true,
		}}}
	}
	return p.h.Header.Locks[0].Name
}

// single adds an event that stands alone.
func (p *textParser) single(op Op, who, what, attributes string) error {
	if err := p.attributes(&op, attributes); err != nil {
		return err
	}
	number := 0
	if n, err := fmt.Sscanf(who, "fault%d", &number); n == 1 && err == nil {
		return p.fault(op, number, what)
	}
	switch {
	case what == "stall":
		op.Type = HostStall
	case who == "":
		op.Type, op.Name = Phase, what
	case what == "crash":
		op.Type = Crash
	case what == "lost" || what == "renewed":
		op.Type = Type(what)
		p.belong(&op)
	default:
		return fmt.Errorf("no event is called %q", what)
	}
	p.add(op)
	return nil
}

func (p *textParser) fault(op Op, number int, what string) error {
	op.Client, op.Fault, op.Thread = "nemesis", number, number
	op.Type = Type("fault-" + what)
	if op.Type != FaultBegin && op.Type != FaultEnd && op.Type != FaultMissed {
		return fmt.Errorf("a fault has a begin and an end, or is missed, but no %q", what)
	}
	for _, f := range p.h.Header.Faults {
		if f.Number == number && op.F == "" {
			op.F = F(f.Kind)
		}
	}
	p.add(op)
	return nil
}

func (p *textParser) add(op Op) { p.events = append(p.events, textEvent{op, len(p.events)}) }

// order sorts the events by time and numbers them. A thread that is called again before it returned is an error.
func (p *textParser) order() error {
	slices.SortStableFunc(p.events, func(a, b textEvent) int {
		return cmp.Or(cmp.Compare(a.op.Time, b.op.Time), cmp.Compare(rank(&a.op), rank(&b.op)), cmp.Compare(a.word, b.word))
	})
	open := map[string]time.Duration{}
	p.h.Ops = make([]Op, 0, len(p.events))
	for i, e := range p.events {
		key := fmt.Sprint(e.op.Client, "/", e.op.Thread)
		switch {
		case e.op.Type == Invoke:
			if at, busy := open[key]; busy {
				return fmt.Errorf("%w: %s is called at %s before its call at %s returned", ErrFormat, key, e.op.Time, at)
			}
			open[key] = e.op.Time
		case e.op.Completes():
			delete(open, key)
		}
		e.op.Index = i
		p.h.Ops = append(p.h.Ops, e.op)
	}
	return nil
}

// rank puts calls before answers of the same moment: then they are concurrent.
func rank(o *Op) int {
	switch {
	case o.Type == Info:
		return 1 // of a call of no length
	case o.Completes():
		return 2
	}
	return 0
}

package reports

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/locktest/locktest/history"
)

// operations are a history's operations and single events as a page holds them: columns of numbers, each a run of
// variable-length integers, with texts by their number in a dictionary.
type operations struct {
	h     *history.History
	rows  []row
	whole int    // rows that there are
	left  string // says that some are left out; empty: none is

	redact  func(string) string
	texts   []string
	numbers map[string]int
	big     map[int]string // tokens beyond what a page's numbers hold, by row
	columns []*column
}

// row is an operation with its end, or a single event.
type row struct {
	call  *history.Op
	end   *history.Op // nil: a single event, or an operation whose end wasn't recorded
	stale bool        // a write that was taken although the resource had seen a higher token
	cited bool        // a finding rests on it
}

// column is one of the numbers of all rows.
type column struct {
	Name  string `json:"name"`
	Bytes int    `json:"bytes"`
	data  []byte
}

func (c *column) put(n uint64) { c.data = binary.AppendUvarint(c.data, n) }

// signed puts a number that may be negative: even numbers are the positive ones.
func (c *column) signed(n int64) { c.put(uint64(n<<1) ^ uint64(n>>63)) }

// columnNames are the columns, in their order. data.js reads them by the same names.
func columnNames() []string {
	return []string{"kind", "outcome", "client", "subject", "start", "duration", "valid", "grant", "token", "value", "text", "flags", "index"}
}

// Kinds of rows and their outcomes, by their numbers in a page.
func rowKinds() []string {
	return []string{"other", "acquire", "extend", "release", "read", "write", "lost", "renewed", "crash", "observed", "fault-begin", "fault-end", "fault-missed", "host-stall", "clock-offset", "phase"}
}

func rowOutcomes() []string {
	return []string{"", "ok", "failed", "unknown", "busy", "not-held", "gone", "rejected", "late", "open"}
}

// Flags of a row.
const (
	flagStale  = 1
	flagCited  = 2
	flagShared = 4
)

// exact is the first whole number that a page's numbers don't hold exactly.
const exact = 1 << 53

// Limits of the dictionary. What is beyond is in the history.
const (
	maxTexts  = 20_000
	maxLength = 300
)

// pack compresses the columns: the length of a table of contents, that table, the columns.
func (o *operations) pack() ([]byte, error) {
	o.encode()
	for _, c := range o.columns {
		c.Bytes = len(c.data)
	}
	contents, err := json.Marshal(map[string]any{"rows": len(o.rows), "columns": o.columns, "texts": o.texts, "big": o.big, "kinds": rowKinds(), "outcomes": rowOutcomes()})
	if err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	parts := [][]byte{binary.LittleEndian.AppendUint32(nil, uint32(len(contents))), contents}
	for _, c := range o.columns {
		parts = append(parts, c.data)
	}
	for _, part := range parts {
		if _, err := z.Write(part); err != nil {
			return nil, fmt.Errorf("report: %w", err)
		}
	}
	if err := z.Close(); err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	return b.Bytes(), nil
}

func (o *operations) encode() {
	o.texts, o.numbers, o.big, o.columns = []string{""}, map[string]int{"": 0}, map[int]string{}, nil
	by := map[string]*column{}
	for _, name := range columnNames() {
		by[name] = &column{Name: name}
		o.columns = append(o.columns, by[name])
	}
	kinds, outcomes := numbered(rowKinds()), numbered(rowOutcomes())
	var last struct {
		start, grant, token, value int64
		index                      int
	}
	for i, r := range o.rows {
		op := r.filled()
		start := r.call.Time.Microseconds()
		by["kind"].put(uint64(kinds[kindOf(&op)]))
		by["outcome"].put(uint64(outcomes[outcomeOf(r)]))
		by["client"].put(o.text(op.Client))
		by["subject"].put(o.text(cmp.Or(op.Resource, op.Lock, op.Name)))
		by["start"].put(uint64(max(start-last.start, 0)))
		last.start = max(start, last.start)
		by["duration"].put(r.lasted())
		by["valid"].put(r.valid(o.h))
		by["grant"].signed(int64(op.Grant) - last.grant)
		token := o.token(i, op.Token)
		by["token"].signed(token - last.token)
		value := op.Value
		if value >= exact || value <= -exact {
			value = 0
		}
		by["value"].signed(value - last.value)
		by["text"].put(o.text(cmp.Or(op.Error, op.Text)))
		by["flags"].put(r.flags(&op))
		by["index"].signed(int64(r.call.Index - last.index))
		last.grant, last.token, last.value, last.index = int64(op.Grant), token, value, r.call.Index
	}
}

func numbered(names []string) map[string]int {
	out := map[string]int{}
	for i, n := range names {
		out[n] = i
	}
	return out
}

// text is the number of a text in the dictionary.
func (o *operations) text(s string) uint64 {
	if n, ok := o.numbers[s]; ok {
		return uint64(n)
	}
	shown := clean(o.redact(s))
	if r := []rune(shown); len(r) > maxLength {
		shown = string(r[:maxLength]) + "…"
	}
	if len(o.texts) >= maxTexts {
		shown, s = "(one text of very many: see the history)", "\x00"
		if n, ok := o.numbers[s]; ok {
			return uint64(n)
		}
	}
	o.numbers[s] = len(o.texts)
	o.texts = append(o.texts, shown)
	return uint64(len(o.texts) - 1)
}

func (o *operations) token(row int, token uint64) int64 {
	if token < exact {
		return int64(token)
	}
	o.big[row] = strconv.FormatUint(token, 10)
	return 0
}

func (r row) filled() history.Op {
	if r.end == nil {
		return *r.call
	}
	return step{call: r.call, end: r.end}.filled()
}

func kindOf(op *history.Op) string {
	switch op.Type {
	case history.Invoke, history.OK, history.Fail, history.Info:
		switch op.F {
		case history.Acquire, history.Extend, history.Release, history.Read, history.Write:
			return string(op.F)
		}
		return "other"
	case history.Lost, history.Renewed, history.Crash, history.FaultBegin, history.FaultEnd, history.FaultMissed, history.HostStall, history.ClockOffset, history.Observed, history.Phase:
		return string(op.Type)
	}
	return "other"
}

func outcomeOf(r row) string {
	switch {
	case r.end == nil && r.call.Type == history.Invoke:
		return "open"
	case r.end == nil:
		return ""
	case r.end.Type == history.Info:
		return "unknown"
	}
	switch r.end.Outcome {
	case history.Busy, history.NotHeld, history.Gone, history.Rejected, history.Late:
		return string(r.end.Outcome)
	}
	if r.end.Type == history.OK {
		return "ok"
	}
	return "failed"
}

// lasted is how long an operation took in µs, and one more; 0: it has no end.
func (r row) lasted() uint64 {
	if r.end == nil {
		return 0
	}
	return uint64(max(r.end.Time.Microseconds()-r.call.Time.Microseconds(), 0)) + 1
}

// valid is until when a lease lasts, in µs from the call, and one more; 0: it is not known.
func (r row) valid(h *history.History) uint64 {
	end := never
	switch {
	case r.end != nil && r.end.Type == history.OK && (r.end.F == history.Acquire || r.end.F == history.Extend):
		end = leaseEnd(h, r.end, r.call)
	case r.end == nil && r.call.Type == history.Renewed && r.call.Valid > 0:
		end = r.call.Valid
	}
	if end == never {
		return 0
	}
	return uint64(max(end-r.call.Time, time.Duration(0)).Microseconds()) + 1
}

func (r row) flags(op *history.Op) (out uint64) {
	if r.stale {
		out |= flagStale
	}
	if r.cited {
		out |= flagCited
	}
	if op.Mode == history.Shared {
		out |= flagShared
	}
	return out
}

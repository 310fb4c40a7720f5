package reports

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/locktest/locktest/history"
)

// Operation is a call with its answer, or an event that stands alone.
type Operation struct {
	Index  int           `json:"index"` // of the call, or of the event
	At     time.Duration `json:"at_ns"`
	Took   time.Duration `json:"took_ns"` // of one without an answer: until the history's end
	Client string        `json:"client"`  // c1, or c1/2 of one with threads
	Op     string        `json:"op"`      // acquire, …; of an event its type
	Lock   string        `json:"lock,omitempty"`
	Grant  int           `json:"grant,omitempty"`
	Token  uint64        `json:"token,omitempty"`
	Result string        `json:"result"` // ok, busy, unknown, …; "open" of one without an answer; empty of an event
	Note   string        `json:"note,omitempty"`
}

// Operations pairs the calls of a history with their answers, in the order of the calls.
func Operations(h *history.History) []Operation {
	type caller struct {
		thread  string
		process int // another one of the same client doesn't answer
	}
	var out []Operation
	open := map[caller]int{}
	var last time.Duration
	for i := range h.Ops {
		op := &h.Ops[i]
		last = op.Time
		by := caller{threadOf(op), op.Process}
		switch {
		case op.Type == history.Invoke:
			open[by] = len(out)
			out = append(out, Operation{Index: i, At: op.Time, Client: threadOf(op), Op: string(op.F), Lock: op.Lock, Grant: op.Grant, Token: op.Token, Result: "open"})
		case op.Completes():
			n, ok := open[by]
			if !ok {
				continue
			}
			delete(open, by)
			o := &out[n]
			o.Took, o.Result, o.Note = op.Time-o.At, endOf(op), noteOf(op)
			if op.Grant != 0 {
				o.Grant = op.Grant
			}
			if op.Token != 0 {
				o.Token = op.Token
			}
		default:
			out = append(out, Operation{Index: i, At: op.Time, Client: threadOf(op), Op: string(op.Type), Lock: op.Lock, Grant: op.Grant, Token: op.Token, Note: noteOf(op)})
		}
	}
	for _, n := range open {
		out[n].Took = last - out[n].At
	}
	return out
}

// noteOf is what else an answer or an event says.
func noteOf(op *history.Op) string {
	var words []string
	add := func(text string) {
		if text != "" {
			words = append(words, clean(text))
		}
	}
	if op.Type == history.FaultBegin || op.Type == history.FaultEnd || op.Type == history.FaultMissed {
		add(fmt.Sprintf("fault %d", op.Fault))
	}
	add(op.Name)
	if op.Text != "" {
		add(op.Text)
	} else if op.Type == history.FaultBegin || op.Type == history.FaultEnd {
		add(string(op.F) + " " + strings.Join(op.Targets, " "))
	}
	if op.F == history.Read || op.F == history.Write {
		add(fmt.Sprintf("version %d", op.Value))
	}
	if op.Valid > 0 {
		add("valid until " + at(op.Valid))
	}
	add(op.Error)
	return strings.Join(words, ", ")
}

// Filter selects operations.
type Filter struct {
	From, To time.Duration // To 0: no end
	terms    []term
}

type term struct{ field, value string }

// filterFields are what a term can name.
func filterFields() []string {
	return []string{"client", "op", "result", "outcome", "lock", "grant", "token", "t"}
}

// ParseFilter reads terms with blanks between, all of which have to hold: client:c2, op:acquire, result:unknown (or outcome:), lock:orders,
// grant:7, token:41, t:12..16 in seconds (either end may be left out); another word has to stand in the operation's note, or
// be its client, operation, lock or result. A client:c1 is c1/2 too.
func ParseFilter(text string) (Filter, error) {
	var f Filter
	for _, word := range strings.Fields(text) {
		field, value, ok := strings.Cut(word, ":")
		switch {
		case slices.Contains([]string{"OR", "AND", "NOT", "|", "||", "&&"}, word):
			return f, fmt.Errorf("%q: a filter has no operators: its terms stand with blanks between, and all of them have to hold", word)
		case !ok:
			f.terms = append(f.terms, term{"", word})
		case !slices.Contains(filterFields(), field):
			return f, fmt.Errorf("%q: there is no field %q; expected one of %s", word, field, strings.Join(filterFields(), ", "))
		case value == "":
			return f, fmt.Errorf("%q: nothing follows the colon", word)
		case field == "t":
			from, to, between := strings.Cut(value, "..")
			if !between {
				return f, fmt.Errorf("%q: expected two ends such as 12..16", word)
			}
			var err error
			if f.From, err = seconds(from); err != nil {
				return f, fmt.Errorf("%q: %w", word, err)
			}
			if f.To, err = seconds(to); err != nil {
				return f, fmt.Errorf("%q: %w", word, err)
			}
			if f.To > 0 && f.From > f.To {
				return f, fmt.Errorf("%q: it ends before it begins", word)
			}
		case field == "outcome": // as the page's table has it
			f.terms = append(f.terms, term{"result", value})
		default:
			f.terms = append(f.terms, term{field, value})
		}
	}
	return f, nil
}

// Check refuses terms that no operation of h can meet, whatever it had recorded: an unknown client, operation, result or lock.
func (f Filter) Check(h *history.History, ops []Operation) error {
	there := map[string][]string{
		"client": slices.Clone(h.Header.Clients),
		"lock":   {},
		"result": {"ok", string(history.Busy), string(history.NotHeld), string(history.Gone), string(history.Rejected), string(history.Late), "failed", "unknown", "open"},
		"op": {string(history.Acquire), string(history.Extend), string(history.Release), string(history.Read), string(history.Write), string(history.Lost), string(history.Renewed), string(history.Crash),
			string(history.FaultBegin), string(history.FaultEnd), string(history.FaultMissed), string(history.HostStall), string(history.ClockOffset), string(history.Observed), string(history.Phase)},
	}
	for _, l := range h.Header.Locks {
		there["lock"] = append(there["lock"], l.Name)
	}
	for _, o := range ops {
		client, _, _ := strings.Cut(o.Client, "/")
		for field, values := range map[string][]string{"client": {client, o.Client}, "lock": {o.Lock}, "result": {o.Result}, "op": {o.Op}} {
			for _, v := range values {
				if v != "" && !slices.Contains(there[field], v) {
					there[field] = append(there[field], v)
				}
			}
		}
	}
	for _, t := range f.terms {
		if known, ok := there[t.field]; ok && !slices.Contains(known, t.value) {
			slices.Sort(known)
			return fmt.Errorf("\"%s:%s\": there is no such %s; expected one of %s", t.field, t.value, t.field, clean(strings.Join(known, ", ")))
		}
	}
	return nil
}

// seconds reads a time of a run: 12, 12.5, 12s or 1500ms; nothing is 0.
func seconds(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	if s, err := strconv.ParseFloat(text, 64); err == nil && s >= 0 && s < 1e9 {
		return time.Duration(s * float64(time.Second)), nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("%q is no time such as 12.5 or 1500ms", text)
	}
	return d, nil
}

// Selects says whether o is among what the filter asks for. An operation belongs to every moment that it lasted.
func (f Filter) Selects(o Operation) bool {
	if o.At+o.Took < f.From || f.To > 0 && o.At > f.To {
		return false
	}
	return !slices.ContainsFunc(f.terms, func(t term) bool { return !t.holds(o) })
}

func (t term) holds(o Operation) bool {
	switch t.field {
	case "client":
		client, _, _ := strings.Cut(o.Client, "/")
		return o.Client == t.value || client == t.value
	case "op":
		return o.Op == t.value
	case "result":
		return o.Result == t.value
	case "lock":
		return o.Lock == t.value
	case "grant":
		return strconv.Itoa(o.Grant) == t.value
	case "token":
		return strconv.FormatUint(o.Token, 10) == t.value
	}
	return strings.Contains(o.Note, t.value) || slices.Contains([]string{o.Client, o.Op, o.Lock, o.Result}, t.value)
}

// WriteOperations writes a table of operations.
func WriteOperations(w io.Writer, ops []Operation) error {
	tw := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintf(tw, "index\tat\ttook\tclient\top\tlock\tgrant\ttoken\tresult\tnote\n")
	for _, o := range ops {
		fmt.Fprintf(tw, "%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", o.Index, at(o.At), short(o.Took), clean(o.Client), o.Op, clean(o.Lock), number(uint64(o.Grant)), number(o.Token), o.Result, o.Note)
	}
	return tw.Flush()
}

// number writes none as a dash.
func number(n uint64) string {
	if n == 0 {
		return "-"
	}
	return strconv.FormatUint(n, 10)
}

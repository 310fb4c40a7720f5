package scenarios

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Message is what a fault does to which messages.
type Message struct {
	Deed  string        // drop, delay, hold, reset; empty: the kind is another one
	What  string        // request, reply, push; of a reset: before it
	Match string        // how the message's text begins; of a reply, its request's
	Nth   int           // of those that match; 0: each
	By    time.Duration // of a delay
}

// before is how a reset says where it is: before-reply.
const before = "before-"

func deeds() []string { return []string{"drop", "delay", "hold", "reset"} }

// messageFields are the keys of a message fault beyond its target.
func messageFields() []Field {
	anything := []string{"request", "reply", "push"}
	return []Field{
		{Path: "faults[].message.drop", Syntax: Text, Values: anything[1:], About: "that message never arrives"},
		{Path: "faults[].message.delay", Syntax: Text, Values: anything, About: "that message is late, and what is behind it on its connection"},
		{Path: "faults[].message.hold", Syntax: Text, Values: anything, About: "that message arrives when the fault ends, and what is behind it on its connection"},
		{Path: "faults[].message.reset", Syntax: Text, Values: []string{before + "request", before + "reply", before + "push"}, About: "the connection is reset just before that message"},
		{Path: "faults[].message.match", Syntax: Text, About: "how the request begins: a command (SET), SQL, an operation (create), a method (KV/Txn); any unless said otherwise"},
		{Path: "faults[].message.nth", Syntax: Count, Min: 1, About: "which of a client's matching messages; each unless said otherwise"},
		{Path: "faults[].message.by", Syntax: Duration, About: "with delay: how late"},
	}
}

// message reads the keys of a message fault.
func (r *reader) message(takes func(string) bool) Message {
	if !takes("drop") {
		return Message{}
	}
	m := Message{Deed: r.d.exactlyOne(r, "deed", deeds()), Match: r.text("match"), Nth: r.count("nth"), By: r.duration("by")}
	if m.Deed == "" {
		return Message{}
	}
	m.What = strings.TrimPrefix(r.text(m.Deed), before)
	switch {
	case m.Deed == "delay" && !r.has("by"):
		r.d.fail(r.path, Problem{Code: CodeMissing, Message: "this delay has no length", Place: r.d.at(r.key("delay"), "how late?"), Fix: "add by: DURATION"})
	case m.Deed != "delay" && r.has("by"):
		r.d.fail(r.key("by"), Problem{Code: CodeMeaningless, Message: fmt.Sprintf("by means nothing with %s", m.Deed), Place: r.d.at(r.key("by")+keyMark, "goes with delay")})
	}
	r.positive("by", m.By)
	return m
}

// message writes the keys that Load reads.
func (w *writer) message(m Message) {
	if m.Deed == "" {
		return
	}
	what := m.What
	if m.Deed == "reset" {
		what = before + what
	}
	w.field(3, m.Deed, what)
	w.text(3, "match", m.Match)
	w.count(3, "nth", m.Nth)
	w.duration(3, "by", m.By)
}

// messageKeys are those that the mapping form has.
func messageKeys() []string {
	return append(slices.Clone(deeds()), "match", "nth", "by")
}

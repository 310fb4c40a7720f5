package nemesis

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/internal/wire"
)

// MessageSpec says what is done to which messages, on the links of clients.
type MessageSpec struct {
	Of   Target // whose messages: those that it sends and gets
	Rule cluster.MessageRule
}

// Message harms single messages: a reply that is lost, a command that is late, a write that arrives after its sender has given
// it up, an event that nobody hears of.
type Message struct{ spec MessageSpec }

// NewMessage returns a message fault as spec says.
func NewMessage(spec MessageSpec) *Message { return &Message{spec} }

// Kind is "message".
func (m *Message) Kind() string { return "message" }

// Target is whose messages are harmed.
func (m *Message) Target() Target { return m.spec.Of }

// Tells says that messages have to be told apart on the links.
func (m *Message) Tells() bool { return true }

// Text says it in words.
func (m *Message) Text() string { return m.text(m.spec.Of.Text()) }

// Default is how long it lasts: until a message was met, mostly, but what is held back arrives after a lease has ended.
func (m *Message) Default(env Env) time.Duration {
	if m.spec.Rule.Deed == wire.Hold {
		return 2 * max(env.TTL, messageLeast)
	}
	return max(env.TTL, messageLeast)
}

// messageLeast is how long a message is waited for at least.
const messageLeast = time.Second

// Check wants links whose messages can be told apart, and a protocol that lets this be done.
func (m *Message) Check(env Env) error {
	if err := checkLinks(env, BothWays); err != nil {
		return fmt.Errorf("message: %w", err)
	}
	if err := m.spec.Of.check(env); err != nil {
		return fmt.Errorf("message: %w", err)
	}
	r := m.spec.Rule
	if r.Deed == wire.Delay && r.By <= 0 {
		return fmt.Errorf("message: it is delayed by %v, want more than 0", r.By)
	}
	for _, n := range env.Nodes {
		spoken, ok := n.(cluster.Spoken)
		if !ok {
			return fmt.Errorf("message: nobody knows which protocol node %s%s speaks", n.Name(), kindOf(n))
		}
		if err := wire.Can(spoken.Protocol(), r.Deed, r.Kind); err != nil {
			return fmt.Errorf("message: %w", err)
		}
	}
	return nil
}

// Inject looks out for the messages, and does to them what it is to. That one came is known when it is healed.
func (m *Message) Inject(ctx context.Context, env Env) (Injection, error) {
	net, ok := env.Net.(cluster.MessageNetwork)
	if !ok {
		return Injection{}, errors.New("message: this network knows no messages")
	}
	names, err := m.spec.Of.pick(ctx, env)
	if err != nil {
		return Injection{}, fmt.Errorf("%s: %w", m.Text(), err)
	}
	text := m.text(and(names))
	env.begin(names, text)
	armed, err := net.Arm(ctx, m.spec.Rule, clientLinks(env, names)...)
	if err != nil {
		return Injection{}, fmt.Errorf("%s: %w", text, err)
	}
	return Injection{
		Targets: names, Text: text,
		Heal:   func(context.Context) error { armed.Disarm(); return nil },
		Result: func() (string, error) { return m.result(armed.Met()) },
	}, nil
}

// clientLinks are those of names that lead from a client to a node.
func clientLinks(env Env, names []string) []cluster.Link {
	return slices.DeleteFunc(touching(env, names, ToNodes), func(l cluster.Link) bool { return env.node(l.From) != nil })
}

// result tells what was met; nothing, and the fault did not apply.
func (m *Message) result(met []cluster.Message) (string, error) {
	if len(met) == 0 {
		return "", fmt.Errorf("%w: no such message came", ErrNoTarget)
	}
	first := met[0]
	text := map[wire.Deed]string{wire.Drop: "dropped ", wire.Delay: "delayed ", wire.Hold: "held back ", wire.Reset: "reset the connection before "}[m.spec.Rule.Deed]
	switch m.spec.Rule.Kind {
	case wire.Push:
		text += fmt.Sprintf("what %s told %s (%s)", first.Node, first.Client, first.Text)
	case wire.Reply:
		text += fmt.Sprintf("the reply of %s to %s's %s", first.Node, first.Client, first.Text)
	default:
		text += fmt.Sprintf("%s's %s to %s", first.Client, first.Text, first.Node)
	}
	if m.spec.Rule.Deed == wire.Delay {
		text += fmt.Sprintf(" by %v", m.spec.Rule.By)
	}
	if len(met) > 1 {
		text += fmt.Sprintf(", and %d more", len(met)-1)
	}
	return text, nil
}

// text is what is to be done: "drop the reply to SET of c1, the 2nd one".
func (m *Message) text(of string) string {
	r := m.spec.Rule
	var words []string
	switch r.Deed {
	case wire.Hold:
		words = append(words, "hold back")
	case wire.Reset:
		words = append(words, "reset the connection before")
	default:
		words = append(words, string(r.Deed))
	}
	switch r.Kind {
	case wire.Request:
		words = append(words, "the request")
	case wire.Reply:
		words = append(words, "the reply to")
	default:
		words = append(words, "the event")
	}
	switch {
	case r.Match != "":
		words = append(words, r.Match)
	case r.Kind == wire.Reply:
		words = append(words, "a request")
	}
	words = append(words, "of", of)
	if r.Deed == wire.Delay {
		words = append(words, fmt.Sprintf("by %v", r.By))
	}
	text := strings.Join(words, " ")
	if r.Nth == 0 {
		return text + ", each"
	}
	return text + ", the " + ordinal(r.Nth) + " one"
}

// ordinal is 1st, 2nd, 3rd, 4th, 11th, 21st …
func ordinal(n int) string {
	suffix := "th"
	if n%100 < 11 || n%100 > 13 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return fmt.Sprintf("%d%s", n, suffix)
}

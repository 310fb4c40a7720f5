package proxy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/internal/wire"
)

// rule is a cluster.MessageRule in force on some pairs.
type rule struct {
	cluster.MessageRule
	over chan struct{} // closed when it ends

	mu    sync.Mutex
	seen  map[string]int // by client
	meant map[request]*meant
	met   []cluster.Message
	ended bool
}

// request is one of a connection.
type request struct {
	session *session
	id      uint64
}

// meant is a request to whose reply something is to be done.
type meant struct {
	text string
	done bool
}

// Arm implements cluster.MessageNetwork. Options.Messages has to be set.
func (n *Network) Arm(_ context.Context, r cluster.MessageRule, links ...cluster.Link) (cluster.Armed, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	pairs, err := n.talking(links)
	if err != nil {
		return nil, fmt.Errorf("message rule: %w", err)
	}
	made := &rule{MessageRule: r, over: make(chan struct{}), seen: map[string]int{}, meant: map[request]*meant{}}
	for _, p := range pairs {
		p.setRules(append(slices.Clone(p.rulesNow()), made))
	}
	return &armed{n, made, pairs}, nil
}

// talking returns the pairs of links whose messages are known.
func (n *Network) talking(links []cluster.Link) ([]*pair, error) {
	if n.closed {
		return nil, errors.New("the network is closed")
	}
	var out []*pair
	for _, l := range links {
		p := n.clientPair(l.From, l.To)
		if p == nil {
			p = n.clientPair(l.To, l.From)
		}
		if p == nil {
			return nil, fmt.Errorf("there is no client's link between %s and %s", l.From, l.To)
		}
		if p.protocol == "" {
			return nil, fmt.Errorf("messages between %s and %s aren't told apart", l.From, l.To)
		}
		if !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out, nil
}

func (n *Network) clientPair(client, node string) *pair {
	if p := n.pairs[way{client, node, cluster.ClientPort}]; p != nil && !p.peers {
		return p
	}
	return nil
}

// armed takes a rule away again.
type armed struct {
	network *Network
	rule    *rule
	pairs   []*pair
}

func (a *armed) Disarm() {
	a.network.mu.Lock()
	defer a.network.mu.Unlock()
	for _, p := range a.pairs {
		p.setRules(slices.DeleteFunc(slices.Clone(p.rulesNow()), func(r *rule) bool { return r == a.rule }))
	}
	a.rule.end()
}

func (a *armed) Met() []cluster.Message {
	a.rule.mu.Lock()
	defer a.rule.mu.Unlock()
	return slices.Clone(a.rule.met)
}

func (r *rule) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.ended {
		r.ended = true
		close(r.over)
	}
}

// meets says whether the rule's deed is to be done to a frame now. Each frame is shown once, in its order.
func (r *rule) meets(s *session, f wire.Frame) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case f.Kind == wire.Request && f.First && r.Kind != wire.Push:
		if !r.counts(s, f.Text) {
			return false
		}
		if r.Kind == wire.Request {
			r.note(s, f.Text)
			return true
		}
		r.meant[request{s, f.ID}] = &meant{text: f.Text}
	case f.Kind == wire.Push && r.Kind == wire.Push:
		if r.counts(s, f.Text) {
			r.note(s, f.Text)
			return true
		}
	case f.Kind == wire.Reply && r.Kind == wire.Reply:
		return r.meetsReply(s, f)
	}
	return false
}

// meetsReply is true for the first frame of a reply, and where it is dropped for all the others too.
func (r *rule) meetsReply(s *session, f wire.Frame) bool {
	m := r.meant[request{s, f.ID}]
	if m == nil {
		return false
	}
	if m.done {
		return r.Deed == wire.Drop
	}
	m.done = true
	r.note(s, m.text)
	return true
}

// counts says whether a text matches, and is the one that is meant among those of its client.
func (r *rule) counts(s *session, text string) bool {
	if !matches(text, r.Match) {
		return false
	}
	r.seen[s.pair.client]++
	return r.Nth == 0 || r.Nth == r.seen[s.pair.client]
}

func (r *rule) note(s *session, text string) {
	r.met = append(r.met, cluster.Message{Client: s.pair.client, Node: s.pair.node, Text: text})
}

// matches says whether text begins with the words of match, in any case. A word ends where no letter or digit follows.
func matches(text, match string) bool {
	if len(text) < len(match) || !strings.EqualFold(text[:len(match)], match) {
		return false
	}
	if match == "" || len(text) == len(match) {
		return true
	}
	return !wordByte(match[len(match)-1]) || !wordByte(text[len(match)])
}

func wordByte(b byte) bool {
	return b == '_' || '0' <= b && b <= '9' || 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z'
}

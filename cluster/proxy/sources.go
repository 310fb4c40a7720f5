package proxy

import (
	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/internal/wire"
)

// leftSessions is how many sessions of connections that are gone a pair remembers: they may live on at the server.
const leftSessions = 16

// Sources implements cluster.MessageNetwork.
func (n *Network) Sources(client, node string) []string {
	p := n.clientPair(client, node)
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []string
	for s := range p.sessions {
		if source, _ := s.onward(); source != "" {
			out = append(out, source)
		}
	}
	return out
}

// onward is where the node sees the session come from, and where it takes it; empty before it was dialed.
func (s *session) onward() (source, dest string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.node == nil || s.over {
		return "", ""
	}
	return s.node.LocalAddr().String(), s.node.RemoteAddr().String()
}

// Sessions implements cluster.MessageNetwork. They are known where Options.Messages is set.
func (n *Network) Sessions(client, node string) []wire.Session {
	p := n.clientPair(client, node)
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	out, seen := []wire.Session{}, map[int64]bool{}
	add := func(sessions []wire.Session) {
		for _, s := range sessions {
			if !seen[s.ID] {
				seen[s.ID] = true
				out = append(out, s)
			}
		}
	}
	add(p.left)
	for s := range p.sessions {
		if s.tap != nil {
			add(s.tap.sessions())
		}
	}
	return out
}

// remember keeps the sessions of a connection that has ended. It is called with the pair's lock held.
func (p *pair) remember(s *session) {
	if s.tap == nil {
		return
	}
	p.left = append(p.left, s.tap.sessions()...)
	if extra := len(p.left) - leftSessions; extra > 0 {
		p.left = p.left[extra:]
	}
}

// Flows implements cluster.FlowNetwork.
func (n *Network) Flows(links ...cluster.Link) []cluster.Flow {
	var out []cluster.Flow
	seen := map[*pair]bool{}
	for _, l := range links {
		for _, a := range n.lanes(l) {
			if !seen[a.pair] {
				seen[a.pair] = true
				out = append(out, a.pair.flow())
			}
		}
	}
	return out
}

func (p *pair) flow() cluster.Flow {
	f := cluster.Flow{Listen: p.addr}
	p.mu.Lock()
	defer p.mu.Unlock()
	for s := range p.sessions {
		if source, dest := s.onward(); source != "" {
			f.Onward = append(f.Onward, [2]string{source, dest})
		}
	}
	return f
}

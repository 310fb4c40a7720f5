package cluster

import (
	"context"
	"time"
)

// Network is the links between clients and nodes.
type Network interface {
	// Addr is where from dials to reach to. It never changes in a run.
	Addr(from, to string) string
	// Set puts links into a condition. The zero Condition is a healthy link: healing is the same path as harming.
	Set(ctx context.Context, c Condition, links ...Link) error
	// Close ends every connection.
	Close() error
}

// Flow is how a link is carried: by connections to where its one end dials the other, and by one onward for each.
type Flow struct {
	Listen string      // HOST:PORT
	Onward [][2]string // source and destination
}

// FlowNetwork is a Network that tells how it carries links.
type FlowNetwork interface {
	// Flows are those of both directions, whichever is given, at this moment.
	Flows(links ...Link) []Flow
}

// Local is a Node that is reached by loopback addresses alone.
type Local interface{ OnLoopback() bool }

// Link is one direction, whoever dialed: what From sends to To.
type Link struct{ From, To string }

// Both returns both directions between a and b.
func Both(a, b string) []Link { return []Link{{a, b}, {b, a}} }

// Condition is the state of a link.
type Condition struct {
	Mode    Mode
	Latency time.Duration // added to every chunk, one way
	Jitter  time.Duration // each chunk is late by up to Latency ± Jitter; order is kept
	Rate    int64         // bytes a second, of all connections together; 0: as fast as they can
}

// Mode is what a link does with what is sent over it.
type Mode uint8

const (
	Pass   Mode = iota
	Hold        // nothing arrives until it heals, then all of it does, as after a partition
	Drop        // what is sent is gone; the connection ends at healing
	Refuse      // connections are reset, new ones are refused
)

func (m Mode) String() string { return [...]string{"pass", "hold", "drop", "refuse"}[m] }

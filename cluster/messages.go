package cluster

import (
	"context"
	"time"

	"github.com/locktest/locktest/internal/wire"
)

// MessageRule says what is done to which messages between clients and nodes.
type MessageRule struct {
	Deed wire.Deed
	Kind wire.Kind // Request, Reply or Push
	// Match is how the message's text begins, or, for a reply, that of its request: a command, SQL, an operation. Case doesn't
	// count, and a word that is begun has to be whole. Empty: any.
	Match string
	Nth   int           // of those of one client that match, from 1; 0: each of them
	By    time.Duration // of a Delay
}

// Message is one to which something was done.
type Message struct {
	Client, Node string
	Text         string // its own, or that of the request that it answers
}

// Armed is a rule in force.
type Armed interface {
	// Disarm ends it, and lets go what it held back. It may be called twice.
	Disarm()
	// Met returns the messages to which it did something, in order.
	Met() []Message
}

// MessageNetwork is a Network that may know the messages on the links of clients.
type MessageNetwork interface {
	Network
	// Arm has a rule obeyed on links, whichever direction is given, by the connections that there are and those to come.
	// What is held back or delayed holds back what comes behind it on its connection.
	Arm(ctx context.Context, r MessageRule, links ...Link) (Armed, error)
	// Sessions are those that a node granted to a client and that the client hasn't ended, as far as messages told.
	Sessions(client, node string) []wire.Session
	// Sources are the addresses from which a client's connections come, as the node sees them.
	Sources(client, node string) []string
}

// Spoken is a Node whose protocol is known, before the start too: one of internal/wire's, or "".
type Spoken interface{ Protocol() string }

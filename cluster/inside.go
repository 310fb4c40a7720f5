package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/locktest/locktest/internal/wire"
)

// Act is what a server can be asked to do to its clients, or to what it keeps for them.
type Act string

// The acts.
const (
	Disconnect Act = "connection-kill"
	Expire     Act = "session-expire"
	Flush      Act = "flush"
	Evict      Act = "evict"
)

// Residue is one thing that a server keeps of a lock.
type Residue struct {
	Name string        // a key, a node's path
	TTL  time.Duration // how long it lasts from now on by itself; below 0: for ever; 0: not said, or as long as a session
}

// Insider is a Node whose server can be asked for acts.
type Insider interface{ Inside() Inside }

// Inside asks the server of one node, past every link.
type Inside struct {
	Service Service
	Addr    string                   // of the node; empty before the start
	Running func() map[string]string // the addresses of all nodes that run, by name
}

// Can says why an act can't be asked for; nil where it can. It may be asked before the start.
func (i Inside) Can(a Act) error {
	s := i.Service
	if has := map[Act]bool{Disconnect: s.Disconnect != nil, Expire: s.Expire != nil, Flush: s.Flush != nil, Evict: s.Evict != nil}; has[a] {
		return nil
	}
	return fmt.Errorf("%s can't be asked for a %s", s.Name, a)
}

// Disconnect ends those of the node's connections that come from such addresses, and says how many it were.
func (i Inside) Disconnect(ctx context.Context, from []string) (int, error) {
	if err := i.Can(Disconnect); err != nil {
		return 0, err
	}
	return i.Service.Disconnect(ctx, i.Addr, from)
}

// Expire ends sessions, with all that they hold, and says how many there still were.
func (i Inside) Expire(ctx context.Context, sessions []wire.Session) (int, error) {
	if err := i.Can(Expire); err != nil {
		return 0, err
	}
	addrs := i.Running()
	if len(addrs) == 0 {
		return 0, errors.New("no node runs")
	}
	return i.Service.Expire(ctx, addrs, sessions)
}

// Flush removes everything that the node keeps.
func (i Inside) Flush(ctx context.Context) error {
	if err := i.Can(Flush); err != nil {
		return err
	}
	return i.Service.Flush(ctx, i.Addr)
}

// Evict has the node give up all keys, as it does for want of memory, and says how many it were.
func (i Inside) Evict(ctx context.Context) (int, error) {
	if err := i.Can(Evict); err != nil {
		return 0, err
	}
	return i.Service.Evict(ctx, i.Addr)
}

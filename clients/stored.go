package clients

import (
	"context"
	"errors"

	"github.com/locktest/locktest/locks"
	"github.com/locktest/locktest/stores"
)

// WithStore returns c as the client of a user who reads and writes the guarded resource itself, in s. Closing one closes both.
func WithStore(c locks.Client, s stores.Store) locks.Client {
	if c == nil {
		return nil
	}
	return &storing{c, s}
}

type storing struct {
	locks.Client
	store stores.Store
}

// Close closes both.
func (s *storing) Close() error { return errors.Join(s.store.Close(), s.Client.Close()) }

// read asks the store, with or without a grant.
func (s *session) read(ctx context.Context, r Request) Reply {
	if s.store == nil {
		return Reply{ID: r.ID, Result: Unavailable, Error: "this client has no store to read"}
	}
	state, err := s.store.Read(ctx, r.Resource, r.Token)
	reply := Reply{ID: r.ID, Result: resultOf(err), Value: state.Version, N: state.N}
	if err != nil {
		reply.Error = s.text(err)
	}
	return reply
}

// write is the work of a client that writes itself.
func (s *session) write(ctx context.Context, r Request) Reply {
	err := s.store.Write(ctx, r.Resource, stores.Write{Token: r.Token, Base: r.Base, Value: r.Value, N: r.N})
	reply := Reply{ID: r.ID, Result: resultOf(err)}
	if err != nil {
		reply.Error = s.text(err)
	}
	return reply
}

// Package etcd is a store in etcd: keys for the fence, the version and the number of a resource, which one transaction compares
// and writes. It knows no lock.
package etcd

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"strconv"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/locktest/locktest/stores"
)

// Store implements stores.Store.
type Store struct {
	options stores.Options

	mu     sync.Mutex
	client *clientv3.Client // nil until it is needed
	known  map[string]bool
}

// New makes a store, which dials with its first request.
func New(o stores.Options) *Store { return &Store{options: o.WithDefaults(), known: map[string]bool{}} }

// Read is one request: a transaction that advances the fence, or a plain range.
func (s *Store) Read(ctx context.Context, resource string, token uint64) (state stores.State, err error) {
	err = s.with(ctx, resource, func(ctx context.Context, c *clientv3.Client) error {
		state, err = s.readBy(ctx, c, resource, token)
		return err
	})
	return state, err
}

// Write is one transaction; in two steps, one that compares and, later, one that writes.
func (s *Store) Write(ctx context.Context, resource string, w stores.Write) error {
	return s.with(ctx, resource, func(ctx context.Context, c *clientv3.Client) error {
		puts := []clientv3.Op{clientv3.OpPut(versionKey(resource), strconv.FormatInt(w.Value, 10)), clientv3.OpPut(numberKey(resource), strconv.FormatInt(w.N, 10))}
		var when []clientv3.Cmp
		switch {
		case s.options.Check == stores.ChecksVersion:
			when = append(when, clientv3.Compare(clientv3.Value(versionKey(resource)), "=", strconv.FormatInt(w.Base, 10)))
		case s.options.Check == stores.ChecksToken && w.Token != 0:
			when = append(when, atMost(resource, w.Token))
			puts = append(puts, advance(resource, w.Token))
		case s.options.Check == stores.ChecksInTwoSteps && w.Token != 0:
			if _, err := s.readBy(ctx, c, resource, w.Token); err != nil {
				return stores.FirstStep(err)
			}
			if err := s.options.Between(ctx); err != nil {
				return err
			}
		}
		_, err := commit(ctx, c, when, puts)
		return err
	})
}

// Close drops the connection.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.client == nil {
		return nil
	}
	c := s.client
	s.client = nil
	if err := c.Close(); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

func (s *Store) readBy(ctx context.Context, c *clientv3.Client, resource string, token uint64) (stores.State, error) {
	gets := []clientv3.Op{clientv3.OpGet(versionKey(resource)), clientv3.OpGet(numberKey(resource))}
	var when []clientv3.Cmp
	if s.options.Check.Tokens() && token != 0 {
		when = append(when, atMost(resource, token))
		gets = append(gets, advance(resource, token))
	}
	r, err := commit(ctx, c, when, gets)
	if err != nil {
		return stores.State{}, err
	}
	var numbers [2]int64
	for i := range numbers {
		kvs := r.Responses[i].GetResponseRange().Kvs
		if len(kvs) != 1 {
			return stores.State{}, fmt.Errorf("resource %s has vanished", resource)
		}
		if numbers[i], err = strconv.ParseInt(string(kvs[0].Value), 10, 64); err != nil {
			return stores.State{}, err
		}
	}
	return stores.State{Version: numbers[0], N: numbers[1]}, nil
}

// commit is one transaction. Where a condition doesn't hold, nothing is done.
func commit(ctx context.Context, c *clientv3.Client, when []clientv3.Cmp, then []clientv3.Op) (*clientv3.TxnResponse, error) {
	r, err := c.Txn(ctx).If(when...).Then(then...).Commit()
	if err == nil && !r.Succeeded {
		err = fmt.Errorf("%w: the transaction's condition didn't hold", stores.ErrRejected)
	}
	return r, err
}

// The fence is a number of twenty digits, so that the order of texts is the order of numbers.
func digits(token uint64) string { return fmt.Sprintf("%020d", token) }

// atMost holds where the fence is no higher than token: transactions know "less than" alone.
func atMost(resource string, token uint64) clientv3.Cmp {
	if token == math.MaxUint64 {
		return clientv3.Compare(clientv3.Value(fenceKey(resource)), "!=", "") // nothing is above it
	}
	return clientv3.Compare(clientv3.Value(fenceKey(resource)), "<", digits(token+1))
}

func advance(resource string, token uint64) clientv3.Op {
	return clientv3.OpPut(fenceKey(resource), digits(token))
}

func fenceKey(resource string) string   { return "/locktest-resources/" + resource + "/fence" }
func versionKey(resource string) string { return "/locktest-resources/" + resource + "/version" }
func numberKey(resource string) string  { return "/locktest-resources/" + resource + "/n" }

// with calls f with a connection that is up and the resource's keys there: requests would wait for one themselves, and then not
// tell whether they were sent. Compared with a key that isn't there, a value fits nothing.
func (s *Store) with(ctx context.Context, resource string, f func(context.Context, *clientv3.Client) error) error {
	ctx, cancel := context.WithTimeout(ctx, s.options.Timeout)
	defer cancel()
	c, err := s.prepare(ctx, resource)
	if err != nil {
		return fmt.Errorf("%w: %w", stores.ErrUnavailable, err)
	}
	return f(ctx, c)
}

// prepare makes what may be made twice.
func (s *Store) prepare(ctx context.Context, resource string) (*clientv3.Client, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.connect(ctx); err != nil {
		return nil, err
	}
	if s.known[resource] {
		return s.client, nil
	}
	_, err := s.client.Txn(ctx).If(clientv3.Compare(clientv3.CreateRevision(fenceKey(resource)), "=", 0)).
		Then(advance(resource, 0), clientv3.OpPut(versionKey(resource), "0"), clientv3.OpPut(numberKey(resource), "0")).Commit()
	if err != nil {
		return nil, err
	}
	s.known[resource] = true
	return s.client, nil
}

// connect returns once the connection is up.
func (s *Store) connect(ctx context.Context) (err error) {
	if s.client == nil {
		if s.client, err = s.open(); err != nil {
			return err
		}
	}
	conn := s.client.ActiveConnection()
	for {
		switch state := conn.GetState(); state {
		case connectivity.Ready:
			return nil
		case connectivity.TransientFailure, connectivity.Shutdown:
			return fmt.Errorf("%s can't be reached", s.options.Addr)
		default:
			conn.Connect()
			if !conn.WaitForStateChange(ctx, state) {
				return fmt.Errorf("%s doesn't answer: %w", s.options.Addr, ctx.Err())
			}
		}
	}
}

func (s *Store) open() (*clientv3.Client, error) {
	return clientv3.New(clientv3.Config{
		Endpoints:       []string{"http://" + s.options.Addr},
		MaxUnaryRetries: 1,
		Logger:          zap.NewNop(),
		DialOptions: []grpc.DialOption{
			grpc.WithNoProxy(),
			grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
				return s.options.Dial(ctx, "tcp", s.options.Addr)
			}),
			grpc.WithTransportCredentials(insecure.NewCredentials()),
			grpc.WithConnectParams(grpc.ConnectParams{Backoff: backoff.Config{BaseDelay: 20 * time.Millisecond, Multiplier: 1.6, MaxDelay: 200 * time.Millisecond}, MinConnectTimeout: time.Second}),
		},
	})
}

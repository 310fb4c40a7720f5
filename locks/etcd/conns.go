package etcd

import (
	"context"
	"fmt"
	"net"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/locktest/locktest/locks"
)

// conns is one client's way to the members: one connection at a time, to the next member after each error. etcd's own
// balancer would use all members in turn, and send every third request to one that can't be reached, for as long as ten
// seconds, below which gRPC doesn't notice.
type conns struct {
	target locks.Target

	mu     sync.Mutex
	at     int
	client *clientv3.Client // nil until it is needed
	closed bool
}

func newConns(t locks.Target) *conns { return &conns{target: t} }

// do calls f with a connection that is up, and gives each of the members a chance to be that. Once f was called its error is
// final: the request may have been carried out. It is ErrUnavailable where f never was.
func (c *conns) do(ctx context.Context, timeout time.Duration, f func(context.Context, *clientv3.Client) error) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var err error
	for range c.target.Addrs {
		client, e := c.get()
		if e != nil {
			err = e
			continue
		}
		if err = connected(ctx, client, timeout/time.Duration(len(c.target.Addrs))); err == nil {
			if err = f(ctx, client); err != nil {
				c.leave(client)
			}
			return err
		}
		c.leave(client)
	}
	return fmt.Errorf("%w: %w", locks.ErrUnavailable, err)
}

func (c *conns) get() (*clientv3.Client, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, locks.ErrClosed
	}
	if c.client != nil {
		return c.client, nil
	}
	client, err := dial(c.target, c.target.Addrs[c.at])
	if err != nil { // this member wasn't entered: the next may be
		c.at = (c.at + 1) % len(c.target.Addrs)
		return nil, fmt.Errorf("%w: %w", locks.ErrUnavailable, err)
	}
	c.client = client
	return client, nil
}

// leave drops a connection, and what is under way on it, and turns to the next member.
func (c *conns) leave(bad *clientv3.Client) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.client != bad {
		return
	}
	c.client = nil
	c.at = (c.at + 1) % len(c.target.Addrs)
	bad.Close() // its error is about what was under way
}

// close is final: what is under way doesn't connect anew.
func (c *conns) close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	if c.client == nil {
		return nil
	}
	client := c.client
	c.client = nil
	return client.Close()
}

// enterLimit is how long a member may take to let a user in, which is asked for as a client is made.
const enterLimit = 2 * time.Second

// dial makes a client of one member. It repeats nothing by itself: a lock decides what may be repeated.
func dial(t locks.Target, addr string) (*clientv3.Client, error) {
	d := t.Dial
	if d == nil {
		d = new(net.Dialer).DialContext
	}
	scheme, secure := "http://", insecure.NewCredentials()
	if config := t.TLS(addr); config != nil {
		scheme, secure = "https://", credentials.NewTLS(config)
	}
	return clientv3.New(clientv3.Config{
		Endpoints:       []string{scheme + addr},
		Username:        t.Access.User,
		DialTimeout:     enterLimit,
		Password:        t.Access.Password.Reveal(),
		MaxUnaryRetries: 1,
		Logger:          zap.NewNop(),
		DialOptions: []grpc.DialOption{
			grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return d(ctx, "tcp", addr) }),
			grpc.WithTransportCredentials(secure),
			grpc.WithConnectParams(grpc.ConnectParams{
				Backoff:           backoff.Config{BaseDelay: 20 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 500 * time.Millisecond},
				MinConnectTimeout: time.Second,
			}),
		},
	})
}

// connected waits until the connection is up. Requests would wait themselves, but not tell whether they were sent.
func connected(ctx context.Context, client *clientv3.Client, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	conn := client.ActiveConnection()
	for {
		switch state := conn.GetState(); state {
		case connectivity.Ready:
			return nil
		case connectivity.TransientFailure, connectivity.Shutdown:
			return fmt.Errorf("%s can't be reached", client.Endpoints()[0])
		default:
			conn.Connect()
			if !conn.WaitForStateChange(ctx, state) {
				return fmt.Errorf("%s doesn't answer: %w", client.Endpoints()[0], ctx.Err())
			}
		}
	}
}

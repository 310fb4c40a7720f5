package broken

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/locktest/locktest/history"
	"github.com/locktest/locktest/locks"
)

// etcdMistake is a lock in etcd as its author wrote it: acquire makes the key under the lease of g, and waits if it does that.
type etcdMistake struct {
	acquire func(ctx context.Context, g *etcdGrant, wait time.Duration) error
}

// Claims of whole seconds, with the create revision as token.
func (m *etcdMistake) Claims(ttl time.Duration) locks.Claims {
	return locks.Claims{Expiry: history.Lease, TTL: wholeSeconds(ttl), Tokens: history.PerGrant, Validity: true, Blocking: true, Distributed: true}
}

func wholeSeconds(ttl time.Duration) time.Duration {
	return max(time.Second, (ttl + time.Second - 1).Truncate(time.Second))
}

// Open makes a client of the first member.
func (m *etcdMistake) Open(_ context.Context, t locks.Target) (locks.Client, error) {
	if len(t.Addrs) == 0 {
		return nil, errors.New("no address")
	}
	dial := t.Dial
	if dial == nil {
		dial = new(net.Dialer).DialContext
	}
	addr := t.Addrs[0]
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{"http://" + addr}, Logger: zap.NewNop(), DialOptions: []grpc.DialOption{
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return dial(ctx, "tcp", addr) }),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
	}})
	if err != nil {
		return nil, err
	}
	return &etcdClient{m, t, c}, nil
}

type etcdClient struct {
	*etcdMistake
	target locks.Target
	etcd   *clientv3.Client
}

func (c *etcdClient) Close() error { return c.etcd.Close() }

// Acquire makes a lease for itself.
func (c *etcdClient) Acquire(ctx context.Context, r locks.Request) (locks.Lock, error) {
	ctx, cancel := context.WithTimeout(ctx, max(r.Wait, wholeSeconds(r.TTL)))
	defer cancel()
	g := &etcdGrant{etcd: c.etcd, name: "locktest/" + r.Name, ttl: wholeSeconds(r.TTL), id: clientv3.LeaseID(c.target.Rand.Int64())}
	g.owner = fmt.Sprintf("%s-%x", c.target.Client, g.id)
	g.until = time.Now().Add(g.ttl)
	_, err := pb.NewLeaseClient(c.etcd.ActiveConnection()).LeaseGrant(ctx, &pb.LeaseGrantRequest{ID: int64(g.id), TTL: int64(g.ttl.Seconds())})
	if err == nil {
		err = c.acquire(ctx, g, r.Wait)
	}
	switch {
	case err == nil:
		return g, nil
	case errors.Is(err, locks.ErrHeld), errors.Is(err, context.DeadlineExceeded):
		if err := g.Release(locks.Cleanup(ctx)); err != nil {
			return g, err
		}
		return nil, locks.ErrHeld
	}
	return g, err
}

type etcdGrant struct {
	etcd  *clientv3.Client
	name  string
	owner string
	id    clientv3.LeaseID
	ttl   time.Duration
	until time.Time
	token locks.Token
}

func (g *etcdGrant) Owner() string         { return g.owner }
func (g *etcdGrant) Token() locks.Token    { return g.token }
func (g *etcdGrant) TTL() time.Duration    { return g.ttl }
func (g *etcdGrant) ValidUntil() time.Time { return g.until }
func (g *etcdGrant) Lost() <-chan struct{} { return nil }

// Release revokes the lease, and with it the key.
func (g *etcdGrant) Release(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, g.ttl)
	defer cancel()
	_, err := g.etcd.Revoke(ctx, g.id)
	if err != nil && ctx.Err() == nil {
		return nil // the lease is gone
	}
	return err
}

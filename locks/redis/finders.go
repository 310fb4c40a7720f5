package redis

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/locktest/locktest/locks"
	"github.com/locktest/locktest/locks/internal/redisconn"
)

// asking finds the primary by asking every server for its role, in order, and stays with the first that says so, until a
// command to it fails.
type asking struct {
	conns []*redis.Client

	mu      sync.Mutex
	current *redis.Client
}

func newAsking(t locks.Target, timeout time.Duration) finder {
	a := &asking{}
	for _, addr := range t.Addrs {
		a.conns = append(a.conns, redisconn.Open(t, addr, timeout))
	}
	return a
}

func (a *asking) primary(ctx context.Context) (*redis.Client, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.current != nil {
		return a.current, nil
	}
	var errs []error
	for _, c := range a.conns {
		role, err := roleOf(ctx, c)
		if err == nil && role == "master" {
			a.current = c
			return c, nil
		}
		if err == nil {
			err = fmt.Errorf("%s is a %s", c.Options().Addr, role)
		}
		errs = append(errs, err)
	}
	return nil, fmt.Errorf("no primary was found: %w", errors.Join(errs...))
}

func roleOf(ctx context.Context, c *redis.Client) (string, error) {
	answer, err := c.Do(ctx, "ROLE").Slice()
	if err != nil {
		return "", err
	}
	role, ok := "", len(answer) > 0
	if ok {
		role, ok = answer[0].(string)
	}
	if !ok {
		return "", fmt.Errorf("%s answered ROLE with %v", c.Options().Addr, answer)
	}
	return role, nil
}

// failed forgets the primary after every error but an answer of nil.
func (a *asking) failed(c *redis.Client, err error) {
	if err == nil || errors.Is(err, redis.Nil) {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.current == c {
		a.current = nil
	}
}

func (a *asking) close() error {
	var errs []error
	for _, c := range a.conns {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// failover is the library's own client for Sentinels, with the retries off for the same reason as elsewhere.
type failover struct{ conn *redis.Client }

func newFailover(t locks.Target, timeout time.Duration) finder {
	return &failover{redis.NewFailoverClient(&redis.FailoverOptions{
		MasterName:            MasterName,
		SentinelAddrs:         t.Addrs[len(t.Addrs)-sentinels:],
		Dialer:                dialByName(t),
		Protocol:              2,
		MaxRetries:            -1,
		DialerRetries:         1,
		DialTimeout:           timeout,
		ReadTimeout:           timeout,
		WriteTimeout:          timeout,
		PoolTimeout:           timeout,
		PoolSize:              256,
		ContextTimeoutEnabled: true,
		DisableIdentity:       true,
	})}
}

func (f *failover) primary(context.Context) (*redis.Client, error) { return f.conn, nil }
func (f *failover) failed(*redis.Client, error)                    {}
func (f *failover) close() error                                   { return f.conn.Close() }

// dialByName turns the names by which nodes know each other, and tell of each other, into the addresses at which this client
// reaches them: nN.locktest is the n-th.
func dialByName(t locks.Target) func(ctx context.Context, network, addr string) (net.Conn, error) {
	dial := t.Dial
	if dial == nil {
		dial = new(net.Dialer).DialContext
	}
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		real, err := realAddr(addr, t.Addrs)
		if err != nil {
			return nil, &net.OpError{Op: "dial", Net: network, Err: err}
		}
		return dial(ctx, network, real)
	}
}

func realAddr(addr string, addrs []string) (string, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return "", err
	}
	name, ours := strings.CutSuffix(host, ".locktest")
	if !ours {
		return addr, nil
	}
	n, err := strconv.Atoi(strings.TrimPrefix(name, "n"))
	if err != nil || n < 1 || n > len(addrs) {
		return "", fmt.Errorf("there is no node %s", name)
	}
	return addrs[n-1], nil
}

//go:build integration

package controls

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/jackc/pgx/v5"
	goredis "github.com/redis/go-redis/v9"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
)

// store is a server as its users see it: each call connects anew, and ends with ctx.
type store struct {
	put func(ctx context.Context, addr, key, value string) error
	// spread returns nil once n others have what was put. nil: put itself returns only then.
	spread func(ctx context.Context, addr string, n int) error
	get    func(ctx context.Context, addr, key string) (string, error) // empty: it isn't there
}

func redisStore() store {
	dial := func(addr string) *goredis.Client {
		return goredis.NewClient(&goredis.Options{Addr: addr, Protocol: 2, MaxRetries: -1, DialerRetries: 1, DisableIdentity: true, ContextTimeoutEnabled: true})
	}
	return store{
		spread: func(ctx context.Context, addr string, n int) error {
			c := dial(addr)
			defer c.Close()
			if err := c.Set(ctx, "spread", "1", 0).Err(); err != nil { // WAIT waits for what its own connection wrote, and all before that
				return err
			}
			got, err := c.Wait(ctx, n, time.Second).Result()
			if err == nil && int(got) < n {
				err = fmt.Errorf("%d of %d replicas have it", got, n)
			}
			return err
		},
		put: func(ctx context.Context, addr, key, value string) error {
			c := dial(addr)
			defer c.Close()
			return c.Set(ctx, key, value, 0).Err()
		},
		get: func(ctx context.Context, addr, key string) (string, error) {
			c := dial(addr)
			defer c.Close()
			value, err := c.Get(ctx, key).Result()
			if errors.Is(err, goredis.Nil) {
				return "", nil
			}
			return value, err
		},
	}
}

func postgresStore() store {
	// The simple protocol prepares nothing, so that a pooler may change sessions between statements.
	with := func(ctx context.Context, addr string, f func(*pgx.Conn) error) error {
		conn, err := pgx.Connect(ctx, "postgres://postgres@"+addr+"/postgres?sslmode=disable&default_query_exec_mode=simple_protocol")
		if err != nil {
			return err
		}
		defer conn.Close(context.WithoutCancel(ctx))
		if _, err := conn.Exec(ctx, "SELECT 1"); err != nil {
			return err
		}
		return f(conn)
	}
	return store{
		put: func(ctx context.Context, addr, key, value string) error {
			return with(ctx, addr, func(c *pgx.Conn) error {
				_, err := c.Exec(ctx, fmt.Sprintf("CREATE TABLE IF NOT EXISTS kept (k text PRIMARY KEY, v text); INSERT INTO kept VALUES ('%s', '%s') ON CONFLICT (k) DO UPDATE SET v = EXCLUDED.v", key, value))
				return err
			})
		},
		get: func(ctx context.Context, addr, key string) (value string, err error) {
			err = with(ctx, addr, func(c *pgx.Conn) error {
				var there bool
				if err := c.QueryRow(ctx, "SELECT to_regclass('kept') IS NOT NULL").Scan(&there); err != nil || !there {
					return err
				}
				err := c.QueryRow(ctx, "SELECT v FROM kept WHERE k = $1", key).Scan(&value)
				if errors.Is(err, pgx.ErrNoRows) {
					return nil
				}
				return err
			})
			return value, err
		},
	}
}

func etcdStore() store {
	with := func(ctx context.Context, addr string, f func(*clientv3.Client) error) error {
		c, err := clientv3.New(clientv3.Config{Context: ctx, Endpoints: []string{addr}, Logger: zap.NewNop(), DialOptions: []grpc.DialOption{grpc.WithNoProxy()}})
		if err != nil {
			return err
		}
		defer c.Close()
		return f(c)
	}
	return store{
		put: func(ctx context.Context, addr, key, value string) error {
			return with(ctx, addr, func(c *clientv3.Client) error {
				_, err := c.Put(ctx, key, value)
				return err
			})
		},
		get: func(ctx context.Context, addr, key string) (value string, err error) {
			err = with(ctx, addr, func(c *clientv3.Client) error {
				r, err := c.Get(ctx, key)
				if err == nil && len(r.Kvs) > 0 {
					value = string(r.Kvs[0].Value)
				}
				return err
			})
			return value, err
		},
	}
}

func zookeeperStore() store {
	with := func(ctx context.Context, addr string, f func(*zk.Conn) error) error {
		dial := func(network, addr string, _ time.Duration) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, addr)
		}
		conn, _, err := zk.Connect([]string{addr}, 10*time.Second, zk.WithDialer(dial), zk.WithLogger(silent{}))
		if err != nil {
			return err
		}
		done := make(chan error, 1)
		go func() { done <- f(conn); conn.Close() }()
		select {
		case err := <-done:
			return err
		case <-ctx.Done():
			go conn.Close()
			return ctx.Err()
		}
	}
	return store{
		put: func(ctx context.Context, addr, key, value string) error {
			return with(ctx, addr, func(c *zk.Conn) error {
				_, err := c.Create("/"+key, []byte(value), 0, zk.WorldACL(zk.PermAll))
				if errors.Is(err, zk.ErrNodeExists) {
					_, err = c.Set("/"+key, []byte(value), -1)
				}
				return err
			})
		},
		get: func(ctx context.Context, addr, key string) (string, error) {
			value := ""
			err := with(ctx, addr, func(c *zk.Conn) error {
				b, _, err := c.Get("/" + key)
				if errors.Is(err, zk.ErrNoNode) {
					return nil
				}
				value = string(b)
				return err
			})
			if err != nil {
				return "", err
			}
			return value, nil
		},
	}
}

type silent struct{}

func (silent) Printf(string, ...any) {}

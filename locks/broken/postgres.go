package broken

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/locktest/locktest/history"
	"github.com/locktest/locktest/locks"
)

// pgMistake is a lock in PostgreSQL as its author wrote it, with a pool of two connections.
type pgMistake struct {
	// token is the SQL that draws a token before the lock is asked for. Empty: there is none.
	token string
	// lock is the SQL that waits, with the key. lock_timeout is set.
	lock string
	// unlock is run on connection number at, of two; the lock was taken on number 0.
	unlock string
	at     int
}

// Claims of a session-level lock.
func (m *pgMistake) Claims(time.Duration) locks.Claims {
	c := locks.Claims{Expiry: history.Session, Tokens: history.NoTokens, Blocking: true, Distributed: true}
	if m.token != "" {
		c.Tokens = history.PerGrant
	}
	return c
}

// Open makes a client of the first address.
func (m *pgMistake) Open(_ context.Context, t locks.Target) (locks.Client, error) {
	if len(t.Addrs) == 0 {
		return nil, errors.New("no address")
	}
	return &pgClient{pgMistake: m, target: t}, nil
}

type pgClient struct {
	*pgMistake
	target locks.Target

	mu    sync.Mutex
	conns [2]*pgconn.PgConn
}

// Close cuts the connections.
func (c *pgClient) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, conn := range c.conns {
		if conn != nil {
			conn.Conn().Close()
		}
	}
	return nil
}

// conn connects when it is first needed, and again when a connection has ended.
func (c *pgClient) conn(ctx context.Context, i int) (*pgconn.PgConn, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conns[i] != nil && !c.conns[i].IsClosed() {
		return c.conns[i], nil
	}
	config, err := pgconn.ParseConfig("user=postgres dbname=postgres sslmode=disable host=127.0.0.1")
	if err != nil {
		return nil, err
	}
	host, port, err := net.SplitHostPort(c.target.Addrs[0])
	if err != nil {
		return nil, err
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return nil, err
	}
	config.Host, config.Port, config.Fallbacks = host, uint16(number), nil
	if c.target.Dial != nil {
		config.DialFunc = c.target.Dial
	}
	c.conns[i], err = pgconn.ConnectConfig(ctx, config)
	return c.conns[i], err
}

func (c *pgClient) exec(ctx context.Context, i int, sql string) ([][][]byte, error) {
	conn, err := c.conn(ctx, i)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", locks.ErrUnavailable, err)
	}
	results, err := conn.Exec(ctx, sql).ReadAll()
	if err != nil || len(results) == 0 {
		return nil, err
	}
	return results[len(results)-1].Rows, nil
}

// Acquire waits at the server.
func (c *pgClient) Acquire(ctx context.Context, r locks.Request) (locks.Lock, error) {
	h := fnv.New64a()
	h.Write([]byte(r.Name))
	key := int64(h.Sum64())
	ctx, cancel := context.WithTimeout(ctx, r.Wait+2*time.Second)
	defer cancel()
	if _, err := c.exec(ctx, 0, "SET lock_timeout = "+strconv.FormatInt(max(1, r.Wait.Milliseconds()), 10)+"; CREATE SEQUENCE IF NOT EXISTS broken_tokens"); err != nil && !isPgError(err) {
		return nil, err
	}
	g := &pgGrant{client: c, key: key, owner: c.target.Owner()}
	if err := c.draw(ctx, g); err != nil {
		return nil, fmt.Errorf("%w: %w", locks.ErrUnavailable, err)
	}
	_, err := c.exec(ctx, 0, fmt.Sprintf(c.lock, key))
	var refused *pgconn.PgError
	switch {
	case errors.As(err, &refused) && refused.Code == "55P03":
		return nil, locks.ErrHeld
	case err != nil:
		return g, err
	}
	return g, nil
}

func (c *pgClient) draw(ctx context.Context, g *pgGrant) error {
	if c.token == "" {
		return nil
	}
	rows, err := c.exec(ctx, 0, c.token)
	if err != nil {
		return err
	}
	token, err := strconv.ParseUint(string(rows[0][0]), 10, 64)
	g.token = locks.Token(token)
	return err
}

// isPgError says whether the server answered; two who make one sequence at once get an error each may ignore.
func isPgError(err error) bool {
	var refused *pgconn.PgError
	return errors.As(err, &refused)
}

type pgGrant struct {
	client *pgClient
	key    int64
	owner  string
	token  locks.Token
}

func (g *pgGrant) Owner() string         { return g.owner }
func (g *pgGrant) Token() locks.Token    { return g.token }
func (g *pgGrant) TTL() time.Duration    { return 0 }
func (g *pgGrant) ValidUntil() time.Time { return time.Time{} }
func (g *pgGrant) Lost() <-chan struct{} { return nil }

// Release ignores what the server answers.
func (g *pgGrant) Release(ctx context.Context) error {
	if g.client.unlock == "" {
		return nil
	}
	_, err := g.client.exec(ctx, g.client.at, fmt.Sprintf(g.client.unlock, g.key))
	return err
}

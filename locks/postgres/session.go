package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/locktest/locktest/locks"
)

// session is one connection. Its name, unique, is the session's application_name: by it another session finds the backend.
type session struct {
	conn   *pgconn.PgConn
	addr   string
	name   string
	grants int
}

// closeLimit is how long a farewell to the server may take; nothing depends on it.
const closeLimit = 100 * time.Millisecond

func (s *session) close() {
	ctx, cancel := context.WithTimeout(context.Background(), closeLimit)
	defer cancel()
	s.conn.Close(ctx) // says goodbye if it can; the connection is closed in any case
}

// cut closes the connection under whoever uses it.
func (s *session) cut() { s.conn.Conn().Close() }

// alive says whether the connection is open, as far as this machine knows. What has come meanwhile is looked at by the library.
func (s *session) alive() bool {
	if is, _ := silent(s.conn.Conn()); is {
		return true
	}
	return s.conn.CheckConn() == nil
}

// ask is for a query whose answer is one boolean.
func (s *session) ask(ctx context.Context, sql string) (bool, error) {
	rows, err := s.exec(ctx, sql)
	if err != nil {
		return false, err
	}
	if len(rows) != 1 || len(rows[0]) != 1 {
		return false, fmt.Errorf("%s: the answer is not one value", sql)
	}
	return string(rows[0][0]) == "t", nil
}

// exec returns the rows of the last statement in sql.
func (s *session) exec(ctx context.Context, sql string) ([][][]byte, error) {
	results, err := s.conn.Exec(ctx, sql).ReadAll()
	if err != nil {
		return nil, err
	}
	if len(results) == 0 {
		return nil, fmt.Errorf("%s: no answer", sql)
	}
	return results[len(results)-1].Rows, nil
}

// endLimit is how long the server may take to end a session.
const endLimit = 5 * time.Second

// end ends s at its server, by another connection, and says whether it held the lock until then. A session that waited for
// the lock and got it in the moment of its end counts as one that didn't.
func (c *client) end(ctx context.Context, s *session, key int64) (held bool, err error) {
	other, err := c.connect(ctx, s.addr, nil)
	if err != nil {
		return false, fmt.Errorf("%w: %w", locks.ErrUnavailable, err)
	}
	defer other.close()
	rows, err := other.exec(ctx, fmt.Sprintf("SELECT %s, pg_terminate_backend(a.pid, %d) FROM pg_stat_activity a WHERE a.application_name = %s", c.how.held(key), endLimit.Milliseconds(), literal(s.name)))
	if err != nil {
		return false, fmt.Errorf("end the session: %w", err)
	}
	for _, row := range rows {
		if string(row[1]) != "t" {
			return false, fmt.Errorf("the server did not end the session in %v", endLimit)
		}
		held = held || string(row[0]) == "t"
	}
	return held, nil
}

// dial connects to the first address that takes writes.
func (c *client) dial(ctx context.Context) (*session, error) {
	if len(c.target.Addrs) == 1 {
		return c.connect(ctx, c.target.Addrs[0], nil)
	}
	var errs []error
	for _, addr := range c.target.Addrs {
		s, err := c.connect(ctx, addr, pgconn.ValidateConnectTargetSessionAttrsReadWrite)
		if err == nil {
			return s, nil
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}

func (c *client) connect(ctx context.Context, addr string, check pgconn.ValidateConnectFunc) (*session, error) {
	config, err := connConfig(addr, c.options)
	if err != nil {
		return nil, err
	}
	if c.target.Access.User != "" {
		config.User = c.target.Access.User
	}
	config.Password, config.TLSConfig = c.target.Access.Password.Reveal(), c.target.TLS(addr)
	if c.target.Dial != nil {
		config.DialFunc = c.target.Dial
	}
	name, err := c.fresh()
	if err != nil {
		return nil, err
	}
	config.ValidateConnect = check
	config.RuntimeParams["application_name"] = name
	ctx, cancel := context.WithTimeout(ctx, c.options.Timeout)
	defer cancel()
	conn, err := pgconn.ConnectConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	return &session{conn: conn, addr: addr, name: name}, nil
}

// fresh makes a session's name. A client that is closed makes none.
func (c *client) fresh() (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return "", locks.ErrClosed
	}
	return c.target.Owner(), nil
}

// owner is drawn under the lock: a release, which may need a session, can come from another goroutine than an acquire.
func (c *client) owner() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.target.Owner()
}

// connConfig is spelt out, so that no variable of the environment but PGPASSWORD has a say in it.
func connConfig(addr string, o Options) (*pgconn.Config, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return nil, fmt.Errorf("address %s: %w", addr, err)
	}
	config, err := pgconn.ParseConfig(fmt.Sprintf("host=%s port=%s user=%s dbname=%s sslmode=disable target_session_attrs=any connect_timeout=0", host, port, o.User, o.Database))
	if err != nil {
		return nil, err
	}
	config.RuntimeParams = map[string]string{}
	return config, nil
}

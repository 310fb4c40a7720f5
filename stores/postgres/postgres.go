// Package postgres is a store in a PostgreSQL server: a row per resource, and for each request one conditional statement whose
// affected rows are counted. It knows no lock.
package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/locktest/locktest/stores"
)

// Store implements stores.Store.
type Store struct {
	options stores.Options

	mu    sync.Mutex
	conn  *pgx.Conn // nil until it is needed, and after an error
	known map[string]bool
}

// New makes a store, which dials with its first request.
func New(o stores.Options) *Store { return &Store{options: o.WithDefaults(), known: map[string]bool{}} }

// A token of 0 is none; one that is there is compared and kept by the statement that reads or writes. Tokens fill 64 bits
// without a sign, which a bigint doesn't hold.
const (
	schema = `CREATE TABLE IF NOT EXISTS locktest_resources (name text PRIMARY KEY, fence numeric(20) NOT NULL DEFAULT 0, version bigint NOT NULL DEFAULT 0, n bigint NOT NULL DEFAULT 0)`
	row    = `INSERT INTO locktest_resources (name) VALUES ($1) ON CONFLICT DO NOTHING`

	read        = `SELECT version, n FROM locktest_resources WHERE name = $1`
	readFenced  = `UPDATE locktest_resources SET fence = $2::numeric WHERE name = $1 AND fence <= $2::numeric RETURNING version, n`
	write       = `UPDATE locktest_resources SET version = $2, n = $3 WHERE name = $1`
	writeFenced = `UPDATE locktest_resources SET fence = $4::numeric, version = $2, n = $3 WHERE name = $1 AND fence <= $4::numeric`
	writeBased  = `UPDATE locktest_resources SET version = $2, n = $3 WHERE name = $1 AND version = $4`
)

// Read is one statement.
func (s *Store) Read(ctx context.Context, resource string, token uint64) (state stores.State, err error) {
	err = s.with(ctx, resource, func(ctx context.Context, c *pgx.Conn) error {
		state, err = s.readBy(ctx, c, resource, token)
		return err
	})
	return state, err
}

// Write is one statement; in two steps, one that compares and, later, one that writes.
func (s *Store) Write(ctx context.Context, resource string, w stores.Write) error {
	return s.with(ctx, resource, func(ctx context.Context, c *pgx.Conn) error {
		switch {
		case s.options.Check == stores.ChecksVersion:
			return change(ctx, c, writeBased, resource, w.Value, w.N, w.Base)
		case s.options.Check == stores.ChecksToken && w.Token != 0:
			return change(ctx, c, writeFenced, resource, w.Value, w.N, decimal(w.Token))
		case s.options.Check == stores.ChecksInTwoSteps && w.Token != 0:
			if _, err := s.readBy(ctx, c, resource, w.Token); err != nil {
				return stores.FirstStep(err)
			}
			if err := s.options.Between(ctx); err != nil {
				return err
			}
		}
		return change(ctx, c, write, resource, w.Value, w.N)
	})
}

// Close drops the connection.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop()
	return nil
}

func (s *Store) readBy(ctx context.Context, c *pgx.Conn, resource string, token uint64) (state stores.State, err error) {
	if s.options.Check.Tokens() && token != 0 {
		err = c.QueryRow(ctx, readFenced, resource, decimal(token)).Scan(&state.Version, &state.N)
	} else {
		err = c.QueryRow(ctx, read, resource).Scan(&state.Version, &state.N)
	}
	if errors.Is(err, pgx.ErrNoRows) {
		return stores.State{}, fmt.Errorf("%w: it has seen a token above %d", stores.ErrRejected, token)
	}
	return state, err
}

// change wants the statement to affect the resource's row.
func change(ctx context.Context, c *pgx.Conn, statement string, args ...any) error {
	done, err := c.Exec(ctx, statement, args...)
	if err == nil && done.RowsAffected() != 1 {
		err = fmt.Errorf("%w: the statement affected no row", stores.ErrRejected)
	}
	return err
}

// with calls f with a connection and the resource's row there. Threads take turns: a connection has one statement at a time.
func (s *Store) with(ctx context.Context, resource string, f func(context.Context, *pgx.Conn) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, s.options.Timeout)
	defer cancel()
	if err := s.prepare(ctx, resource); err != nil {
		s.drop()
		return fmt.Errorf("%w: %w", stores.ErrUnavailable, err)
	}
	err := f(ctx, s.conn)
	if s.conn.IsClosed() {
		s.drop()
	}
	return classify(err)
}

// prepare makes what may be made twice.
func (s *Store) prepare(ctx context.Context, resource string) error {
	if s.conn == nil {
		if err := s.connect(ctx); err != nil {
			return err
		}
	}
	if s.known[resource] {
		return nil
	}
	if _, err := s.conn.Exec(ctx, schema); err != nil && !madeAtOnce(err) {
		return err
	}
	if _, err := s.conn.Exec(ctx, row, resource); err != nil {
		return err
	}
	s.known[resource] = true
	return nil
}

func (s *Store) connect(ctx context.Context) error {
	c, err := pgx.ParseConfig("postgres://postgres@" + s.options.Addr + "/postgres?sslmode=disable")
	if err != nil {
		return err
	}
	c.DialFunc = s.options.Dial
	c.LookupFunc = func(_ context.Context, host string) ([]string, error) { return []string{host}, nil }
	c.DefaultQueryExecMode = pgx.QueryExecModeExec // one message there and back for each statement, and nothing is kept at the server
	s.conn, err = pgx.ConnectConfig(ctx, c)
	return err
}

func (s *Store) drop() {
	if s.conn == nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel() // without a word, which a link may hold back
	s.conn.Close(ctx)
	s.conn = nil
}

// madeAtOnce: two sessions made the same table, and one was told so.
func madeAtOnce(err error) bool {
	var refused *pgconn.PgError
	return errors.As(err, &refused) && (refused.Code == "23505" || refused.Code == "42P07")
}

func decimal(token uint64) string { return strconv.FormatUint(token, 10) }

// goesOn says whether a session goes on after an error, which then had no effect: FATAL and PANIC end it, whatever was done.
// Severity may be in any language; a pooler's own errors have no other.
func goesOn(refused *pgconn.PgError) bool {
	return cmp.Or(refused.SeverityUnlocalized, refused.Severity) == "ERROR"
}

// classify makes err definite where nothing was sent, or the server refused the statement.
func classify(err error) error {
	var refused *pgconn.PgError
	var op *net.OpError
	switch {
	case err == nil, errors.Is(err, stores.ErrRejected), errors.Is(err, stores.ErrUnavailable):
		return err
	case errors.As(err, &op) && op.Op == "dial", pgconn.SafeToRetry(err), errors.As(err, &refused) && goesOn(refused):
		return fmt.Errorf("%w: %w", stores.ErrUnavailable, err)
	}
	return err
}

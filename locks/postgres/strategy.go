package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/locktest/locktest/history"
	"github.com/locktest/locktest/locks"
)

// strategy is how a session takes a lock that it then holds.
type strategy struct {
	name   string
	shared bool // has a shared mode
	token  bool // gives one
	// ask is the SQL that tries once and answers with one value: true or a token for a grant, false or nothing for none.
	ask func(g *grant) string
	// wait is the SQL that waits.
	wait func(g *grant) string
	// before is the SQL that begins the transaction that holds the lock. nil: the session holds it.
	before func(g *grant) string
	// undo is the SQL that is run after a refusal, before the session is used again. Empty: nothing is left to undo.
	undo func(g *grant) string
	// unlock says whether the session held the lock.
	unlock func(ctx context.Context, g *grant) (held bool, err error)
	// held is an SQL condition on the backend a: that it holds the lock.
	held func(key int64) string
}

// lockNotAvailable is the code of an error for a wait that took longer than lock_timeout, or a NOWAIT that found it taken.
const lockNotAvailable = "55P03"

// lock tries once, or waits. Both are one message, so that the time limit, which ends with the transaction, is for this wait
// alone.
func (s *session) lock(ctx context.Context, how strategy, g *grant) (granted bool, err error) {
	var rows [][][]byte
	err = s.prepared(ctx, func() (err error) {
		rows, err = s.exec(ctx, how.sql(g))
		return err
	})
	var refused *pgconn.PgError
	if errors.As(err, &refused) && refused.Code == lockNotAvailable {
		return false, s.undo(ctx, how, g)
	}
	if err != nil {
		return false, err
	}
	if granted, err = how.read(rows, g); granted || err != nil {
		return granted, err
	}
	return false, s.undo(ctx, how, g)
}

func (how strategy) sql(g *grant) string {
	before := ""
	if how.before != nil {
		before = how.before(g)
	}
	if g.request.Wait <= 0 {
		return before + how.ask(g)
	}
	return fmt.Sprintf("%sSET LOCAL lock_timeout = %d; %s", before, max(1, g.request.Wait.Milliseconds()), how.wait(g))
}

// read takes the answer: nothing, a boolean, or the token.
func (how strategy) read(rows [][][]byte, g *grant) (granted bool, err error) {
	switch {
	case len(rows) == 0 || string(rows[0][0]) == "f":
		return false, nil
	case !how.token:
		return true, nil
	}
	token, err := strconv.ParseUint(string(rows[0][0]), 10, 64)
	if err != nil {
		return false, fmt.Errorf("the token: %w", err)
	}
	g.token = locks.Token(token)
	return true, nil
}

// undo's error is indefinite, even where it was itself not sent (%v): the question was.
func (s *session) undo(ctx context.Context, how strategy, g *grant) error {
	if _, err := s.exec(ctx, how.undo(g)); err != nil {
		return fmt.Errorf("undo what was refused: %v", err)
	}
	return nil
}

func rollback(*grant) string { return "ROLLBACK" }

func mode(g *grant) string {
	if g.request.Mode == history.Shared {
		return "_shared"
	}
	return ""
}

// sessionLevel is postgres/advisory.
var sessionLevel = strategy{
	name: "postgres/advisory",
	ask:  func(g *grant) string { return fmt.Sprintf("SELECT pg_try_advisory_lock%s('%d')", mode(g), g.key) },
	wait: func(g *grant) string { return fmt.Sprintf("SELECT pg_advisory_lock%s('%d')", mode(g), g.key) },
	// A time limit that ends in the moment of the grant is an error all the same, and ends the transaction, and the session keeps
	// the lock. Without that the answer to this is false, with a warning.
	undo: unlockSQL,
	unlock: func(ctx context.Context, g *grant) (bool, error) {
		return g.session.ask(ctx, unlockSQL(g))
	},
	held: advisoryHeld,
}

func unlockSQL(g *grant) string {
	return fmt.Sprintf("SELECT pg_advisory_unlock%s('%d')", mode(g), g.key)
}

func advisoryHeld(key int64) string {
	return fmt.Sprintf(`EXISTS (SELECT FROM pg_locks l WHERE l.pid = a.pid AND l.granted AND l.locktype = 'advisory' AND l.objsubid = 1
 AND (l.classid::bigint << 32 | l.objid::bigint) = '%d')`, key)
}

// NewAdvisoryShared makes postgres/advisory-shared: postgres/advisory with a shared mode for readers.
func NewAdvisoryShared(o Options) *Advisory {
	how := sessionLevel
	how.name, how.shared = "postgres/advisory-shared", true
	return &Advisory{o, how}
}

// NewAdvisoryXact makes postgres/advisory-xact: a transaction-level advisory lock, held by an open transaction. The token is
// a sequence's next value, taken after the lock within the same message: a sequence doesn't go back with a transaction, as a
// column would, which then gave one token to two holders.
func NewAdvisoryXact(o Options) *Advisory {
	return &Advisory{o, strategy{
		name: "postgres/advisory-xact", token: true,
		before: func(*grant) string { return "BEGIN; " },
		ask: func(g *grant) string {
			return fmt.Sprintf("SELECT CASE WHEN pg_try_advisory_xact_lock('%d') THEN nextval('locktest_tokens')::text ELSE 'f' END", g.key)
		},
		wait: func(g *grant) string {
			return fmt.Sprintf("SELECT pg_advisory_xact_lock('%d'); SELECT nextval('locktest_tokens')", g.key)
		},
		undo:   rollback,
		unlock: commit,
		held:   advisoryHeld,
	}}
}

// NewRow makes postgres/row: SELECT … FOR UPDATE, held by an open transaction; a try is NOWAIT, or SKIP LOCKED with that
// option. The token is taken as in postgres/advisory-xact.
func NewRow(o Options) *Advisory {
	try := "NOWAIT"
	if o.SkipLocked {
		try = "SKIP LOCKED"
	}
	const row = "BEGIN; INSERT INTO locktest_rows VALUES (%s) ON CONFLICT DO NOTHING; COMMIT; BEGIN; "
	const token = "WITH r AS MATERIALIZED (SELECT name FROM locktest_rows WHERE name = %[1]s FOR UPDATE %[2]s) SELECT nextval('locktest_tokens') FROM r"
	return &Advisory{o, strategy{
		name: "postgres/row", token: true,
		before: func(g *grant) string { return fmt.Sprintf(row, literal(g.request.Name)) },
		ask:    func(g *grant) string { return fmt.Sprintf(token, literal(g.request.Name), try) },
		wait:   func(g *grant) string { return fmt.Sprintf(token, literal(g.request.Name), "") },
		undo:   rollback,
		unlock: commit,
		// The transaction that took the row is open, and waits for nothing.
		held: func(int64) string { return "a.state = 'idle in transaction'" },
	}}
}

// commit ends the transaction that holds, which proves that it was open until then.
func commit(ctx context.Context, g *grant) (bool, error) {
	results, err := g.session.conn.Exec(ctx, "COMMIT").ReadAll()
	if err != nil {
		return false, err
	}
	return len(results) == 1 && results[0].CommandTag.String() == "COMMIT", nil
}

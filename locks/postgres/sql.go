package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/locktest/locktest/locks"
)

// Codes of errors that say what to do next (PostgreSQL documentation, appendix A).
const (
	undefinedTable  = "42P01"
	uniqueViolation = "23505" // two sessions made the same table at once
	duplicateTable  = "42P07"
)

// schema is what the locks that need tables find, made by the first who misses it.
const schema = `
CREATE TABLE IF NOT EXISTS locktest_leases (name text PRIMARY KEY, owner text, token bigint NOT NULL, expires_at timestamptz NOT NULL);
CREATE TABLE IF NOT EXISTS locktest_rows (name text PRIMARY KEY);
CREATE SEQUENCE IF NOT EXISTS locktest_tokens`

// prepared runs f, and once more with the tables made where it missed them.
func (s *session) prepared(ctx context.Context, f func() error) error {
	err := f()
	if !hasCode(err, undefinedTable) {
		return err
	}
	// What was asked may have begun a transaction, which the error has ended.
	if _, err := s.exec(ctx, "ROLLBACK; "+schema); err != nil && !hasCode(err, uniqueViolation, duplicateTable) {
		return err
	}
	return f()
}

func hasCode(err error, codes ...string) bool {
	var refused *pgconn.PgError
	if !errors.As(err, &refused) {
		return false
	}
	for _, c := range codes {
		if refused.Code == c {
			return true
		}
	}
	return false
}

// literal is text as SQL has it. Only the simple protocol is used, which a pooler in transaction mode can carry.
func literal(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// goesOn says whether a session goes on after an error, which then had no effect: FATAL and PANIC end it, whatever was done.
// Severity may be in any language; a pooler's own errors have no other.
func goesOn(refused *pgconn.PgError) bool {
	return cmp.Or(refused.SeverityUnlocalized, refused.Severity) == "ERROR"
}

// classify makes err definite where it is: nothing was sent, or the server refused the statement, which then had no effect.
func classify(err error) error {
	var refused *pgconn.PgError
	switch {
	case err == nil:
		return nil
	case pgconn.SafeToRetry(err), errors.As(err, &refused) && goesOn(refused):
		return fmt.Errorf("%w: %w", locks.ErrUnavailable, err)
	}
	return err
}

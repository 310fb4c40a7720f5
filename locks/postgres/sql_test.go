package postgres

import (
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/locktest/locktest/locks"
)

// Only what the server refuses and goes on after had no effect, in whatever language it says so.
func TestClassify(t *testing.T) {
	for _, c := range []struct {
		refused  pgconn.PgError
		definite bool
	}{
		{pgconn.PgError{Severity: "ERROR", SeverityUnlocalized: "ERROR"}, true},
		{pgconn.PgError{Severity: "FEHLER", SeverityUnlocalized: "ERROR"}, true},
		{pgconn.PgError{Severity: "FATAL", SeverityUnlocalized: "FATAL"}, false},
		{pgconn.PgError{Severity: "SCHWERWIEGEND", SeverityUnlocalized: "FATAL"}, false},
		{pgconn.PgError{Severity: "PANIC", SeverityUnlocalized: "PANIC"}, false},
		{pgconn.PgError{Severity: "ERROR"}, true}, // a pooler's own
		{pgconn.PgError{Severity: "FATAL"}, false},
	} {
		if err := classify(fmt.Errorf("take: %w", &c.refused)); locks.Definite(err) != c.definite {
			t.Errorf("%+v: %v, want definite: %v", c.refused, err, c.definite)
		}
	}
}

// What fails after the question was answered doesn't say that none was sent, though it was itself not sent.
func TestUndoThatFailsIsIndefinite(t *testing.T) {
	s := &session{conn: &pgconn.PgConn{}} // it was never connected
	if _, err := s.exec(t.Context(), "SELECT true"); !pgconn.SafeToRetry(err) {
		t.Fatalf("exec without a connection: %v", err)
	}
	if err := s.undo(t.Context(), sessionLevel, &grant{}); err == nil || pgconn.SafeToRetry(err) {
		t.Errorf("undo: %v, as if nothing had been sent", err)
	}
}

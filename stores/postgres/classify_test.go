package postgres

import (
	"errors"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/locktest/locktest/stores"
)

// Only what the server refuses and goes on after had no effect, in whatever language it says so.
func TestClassify(t *testing.T) {
	for _, c := range []struct {
		refused  pgconn.PgError
		definite bool
	}{
		{pgconn.PgError{Severity: "FEHLER", SeverityUnlocalized: "ERROR"}, true},
		{pgconn.PgError{Severity: "SCHWERWIEGEND", SeverityUnlocalized: "FATAL"}, false},
		{pgconn.PgError{Severity: "PANIC", SeverityUnlocalized: "PANIC"}, false},
		{pgconn.PgError{Severity: "ERROR"}, true}, // a pooler's own
	} {
		if err := classify(fmt.Errorf("write: %w", &c.refused)); errors.Is(err, stores.ErrUnavailable) != c.definite {
			t.Errorf("%+v: %v, want definite: %v", c.refused, err, c.definite)
		}
	}
}

package postgres

import (
	"context"
	"fmt"

	"github.com/locktest/locktest/cluster"
)

// residue lists the advisory locks of that name that sessions hold, and its lease if it lasts.
func residue(ctx context.Context, addr, lock string) ([]cluster.Residue, error) {
	s, err := askAt(ctx, addr)
	if err != nil {
		return nil, err
	}
	defer s.close()
	var out []cluster.Residue
	rows, err := s.exec(ctx, "SELECT a.application_name FROM pg_stat_activity a WHERE "+advisoryHeld(Key(lock)))
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		out = append(out, cluster.Residue{Name: fmt.Sprintf("the advisory lock of session %s", row[0])})
	}
	rows, err = s.exec(ctx, fmt.Sprintf("SELECT owner FROM locktest_leases WHERE name = %s AND owner IS NOT NULL AND expires_at > clock_timestamp()", literal(lock)))
	if hasCode(err, undefinedTable) {
		return out, nil
	}
	for _, row := range rows {
		out = append(out, cluster.Residue{Name: fmt.Sprintf("the lease of %s", row[0])})
	}
	return out, err
}

package postgres

import (
	"context"
	"fmt"
	"strings"
)

// disconnect ends the sessions of connections that come from such addresses, by pg_terminate_backend, with all locks that they
// hold.
func disconnect(ctx context.Context, addr string, from []string) (int, error) {
	if len(from) == 0 {
		return 0, nil
	}
	s, err := askAt(ctx, addr)
	if err != nil {
		return 0, err
	}
	defer s.close()
	sql := fmt.Sprintf("SELECT pg_terminate_backend(pid, %d) FROM pg_stat_activity WHERE host(client_addr) || ':' || client_port IN ('%s')",
		endLimit.Milliseconds(), strings.Join(from, "', '"))
	rows, err := s.exec(ctx, sql)
	if err != nil {
		return 0, fmt.Errorf("end sessions at %s: %w", addr, err)
	}
	for _, row := range rows {
		if string(row[0]) != "t" {
			return 0, fmt.Errorf("%s did not end a session in %v", addr, endLimit)
		}
	}
	return len(rows), nil
}

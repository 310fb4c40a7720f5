package etcd

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/locktest/locktest/internal/wire"
)

// expire revokes leases, with all keys under them. Any member that has a quorum can do it.
func expire(ctx context.Context, addrs map[string]string, sessions []wire.Session) (int, error) {
	ended := 0
	for _, s := range sessions {
		live, err := revokeAnywhere(ctx, addrs, s.ID)
		if err != nil {
			return ended, fmt.Errorf("revoke lease %x: %w", s.ID, err)
		}
		if live {
			ended++
		}
	}
	return ended, nil
}

func revokeAnywhere(ctx context.Context, addrs map[string]string, lease int64) (live bool, err error) {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(addrs)) {
		live, err := revokeAt(ctx, addrs[name], lease)
		if err == nil {
			return live, nil
		}
		errs = append(errs, fmt.Errorf("%s: %w", name, err))
	}
	return false, errors.Join(errs...)
}

// revokeAt asks first whether the lease lives: one that is gone has no time left.
func revokeAt(ctx context.Context, addr string, lease int64) (live bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, 4*statusLimit)
	defer cancel()
	id := map[string]string{"ID": strconv.FormatInt(lease, 10)}
	var left struct{ TTL string }
	if err := ask(ctx, addr, "lease/timetolive", id, &left); err != nil {
		return false, err
	}
	if ttl, _ := strconv.ParseInt(left.TTL, 10, 64); ttl <= 0 {
		return false, nil
	}
	var out struct{}
	return true, ask(ctx, addr, "lease/revoke", id, &out)
}

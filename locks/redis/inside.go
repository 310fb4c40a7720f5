package redis

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/locktest/locktest/cluster"
)

// disconnect ends the connections that come from such addresses, by CLIENT KILL.
func disconnect(ctx context.Context, addr string, from []string) (int, error) {
	return ask(ctx, addr, func(ctx context.Context, c *redis.Client) (int, error) {
		ended := 0
		for _, source := range from {
			n, err := c.ClientKillByFilter(ctx, "ADDR", source).Result()
			if err != nil {
				return ended, fmt.Errorf("CLIENT KILL ADDR %s: %w", source, err)
			}
			ended += int(n)
		}
		return ended, nil
	})
}

// flush is FLUSHALL, as by an administrator's mistake.
func flush(ctx context.Context, addr string) error {
	_, err := ask(ctx, addr, func(ctx context.Context, c *redis.Client) (string, error) { return c.FlushAll(ctx).Result() })
	return err
}

// evict gives the server too little memory for any key, with leave to evict any of them, until all are gone, and then puts both
// settings back. Writes are answered with an error meanwhile, as a server does that can't evict enough.
func evict(ctx context.Context, addr string) (evicted int, err error) {
	return ask(ctx, addr, func(ctx context.Context, c *redis.Client) (int, error) {
		restore, err := memorySettings(ctx, c)
		if err != nil {
			return 0, err
		}
		before, err := c.DBSize(ctx).Result()
		if err != nil {
			return 0, err
		}
		if err = set(ctx, c, map[string]string{"maxmemory-policy": "allkeys-random", "maxmemory": "1"}); err == nil {
			err = emptied(ctx, c)
		}
		back, cancel := context.WithTimeout(context.WithoutCancel(ctx), askLimit)
		defer cancel()
		return int(before), errors.Join(err, set(back, c, restore))
	})
}

func memorySettings(ctx context.Context, c *redis.Client) (map[string]string, error) {
	out := map[string]string{}
	for _, name := range []string{"maxmemory", "maxmemory-policy"} {
		values, err := c.ConfigGet(ctx, name).Result()
		if err != nil {
			return nil, err
		}
		out[name] = values[name]
	}
	return out, nil
}

func set(ctx context.Context, c *redis.Client, settings map[string]string) error {
	var errs []error
	for _, name := range []string{"maxmemory-policy", "maxmemory"} {
		errs = append(errs, c.ConfigSet(ctx, name, settings[name]).Err())
	}
	return errors.Join(errs...)
}

// emptied waits until no key is left: each command makes the server evict some.
func emptied(ctx context.Context, c *redis.Client) error {
	for {
		left, err := c.DBSize(ctx).Result()
		if err != nil || left == 0 {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d keys were not evicted: %w", left, ctx.Err())
		case <-time.After(time.Millisecond):
		}
	}
}

// residue lists the lock's keys but the counters, which stay.
func residue(ctx context.Context, addr, lock string) ([]cluster.Residue, error) {
	return ask(ctx, addr, func(ctx context.Context, c *redis.Client) (out []cluster.Residue, err error) {
		keys := c.Scan(ctx, 0, pattern(Key(lock))+"*", 1000).Iterator()
		for keys.Next(ctx) {
			key := keys.Val()
			if strings.HasSuffix(key, ":token") || strings.HasSuffix(key, ":ticket") {
				continue
			}
			ttl, err := c.PTTL(ctx, key).Result()
			if err != nil {
				return nil, err
			}
			switch {
			case ttl == -2: // it has ended meanwhile
			case ttl < 0:
				out = append(out, cluster.Residue{Name: key, TTL: -1})
			default:
				out = append(out, cluster.Residue{Name: key, TTL: ttl})
			}
		}
		return out, keys.Err()
	})
}

// pattern is key as SCAN takes it literally.
func pattern(key string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, "]", `\]`).Replace(key)
}

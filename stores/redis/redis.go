// Package redis is a store in a Redis server: a hash per resource, which one script reads, compares and writes. It knows no lock.
package redis

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"

	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/locktest/locktest/stores"
)

// Store implements stores.Store.
type Store struct {
	options stores.Options
	client  *goredis.Client
}

// New makes a store, which dials with its first request. A request whose reply was lost isn't repeated: that is the library's
// habit, and would be a second write.
func New(o stores.Options) *Store {
	o = o.WithDefaults()
	return &Store{o, goredis.NewClient(&goredis.Options{
		Addr:                     o.Addr,
		Dialer:                   o.Dial,
		Protocol:                 2,
		MaxRetries:               -1,
		DialerRetries:            1,
		DialTimeout:              o.Timeout,
		ReadTimeout:              o.Timeout,
		WriteTimeout:             o.Timeout,
		PoolTimeout:              o.Timeout,
		ContextTimeoutEnabled:    true,
		DisableIdentity:          true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})}
}

// Read runs one script.
func (s *Store) Read(ctx context.Context, resource string, token uint64) (stores.State, error) {
	return s.run(ctx, readScript, resource, s.options.Check.Tokens(), token)
}

// Write runs one script; in two steps, one that compares and, later, a plain command that writes.
func (s *Store) Write(ctx context.Context, resource string, w stores.Write) error {
	if s.options.Check == stores.ChecksInTwoSteps {
		if _, err := s.run(ctx, readScript, resource, true, w.Token); err != nil {
			return stores.FirstStep(err)
		}
		if err := s.options.Between(ctx); err != nil {
			return err
		}
		return classify(s.client.HSet(ctx, key(resource), "version", w.Value, "n", w.N).Err())
	}
	_, err := s.run(ctx, writeScript, resource, s.options.Check.Tokens(), w.Token, flag(s.options.Check == stores.ChecksVersion), w.Base, w.Value, w.N)
	return err
}

// Close drops the connections.
func (s *Store) Close() error {
	if err := s.client.Close(); err != nil && !errors.Is(err, goredis.ErrClosed) {
		return err
	}
	return nil
}

// Both scripts answer {"1", version, n}, or {"0", the token or the version that stands in the way}. Tokens are compared as
// text, since a number in Lua is exact up to 2^53 only. A token of 0 is none.
const admits = `
local fence = redis.call('HGET', KEYS[1], 'fence') or '0'
if ARGV[1] == '1' and ARGV[2] ~= '0' then
  if #ARGV[2] < #fence or #ARGV[2] == #fence and ARGV[2] < fence then return {'0', fence} end
  redis.call('HSET', KEYS[1], 'fence', ARGV[2])
end
`

// redis.NewScript only computes a digest; these are as constant as their text.
func script(text string) *goredis.Script { return goredis.NewScript(text) }

const readScript = admits + `
local r = redis.call('HMGET', KEYS[1], 'version', 'n')
return {'1', r[1] or '0', r[2] or '0'}`

const writeScript = admits + `
local version = redis.call('HGET', KEYS[1], 'version') or '0'
if ARGV[3] == '1' and ARGV[4] ~= version then return {'0', version} end
redis.call('HSET', KEYS[1], 'version', ARGV[5], 'n', ARGV[6])
return {'1', ARGV[5], ARGV[6]}`

func (s *Store) run(ctx context.Context, text, resource string, tokens bool, args ...any) (stores.State, error) {
	reply, err := script(text).Run(ctx, s.client, []string{key(resource)}, append([]any{flag(tokens)}, args...)...).StringSlice()
	if err != nil {
		return stores.State{}, classify(err)
	}
	if len(reply) < 2 || len(reply) < 3 && reply[0] == "1" {
		return stores.State{}, fmt.Errorf("the script answered %q", reply)
	}
	if reply[0] != "1" {
		return stores.State{}, fmt.Errorf("%w: it has seen %s", stores.ErrRejected, reply[1])
	}
	version, err1 := strconv.ParseInt(reply[1], 10, 64)
	n, err2 := strconv.ParseInt(reply[2], 10, 64)
	return stores.State{Version: version, N: n}, errors.Join(err1, err2)
}

func key(resource string) string { return "locktest:resource:" + resource }

func flag(on bool) int {
	if on {
		return 1
	}
	return 0
}

// classify makes err definite where nothing was sent. A script is refused as a whole before it began, or not at all.
func classify(err error) error {
	var op *net.OpError
	var refused goredis.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &op) && op.Op == "dial", errors.Is(err, goredis.ErrPoolTimeout), errors.As(err, &refused):
		return fmt.Errorf("%w: %w", stores.ErrUnavailable, err)
	}
	return err
}

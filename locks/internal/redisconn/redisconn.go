// Package redisconn is how locks reach a Redis server: one connection pool set up so that the client library adds
// neither retries nor waits of its own, and the classes of its errors. It knows no lock.
package redisconn

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/locktest/locktest/locks"
)

// Open makes a client of the server at addr. A command that has no answer after timeout is given up. Nothing is dialed
// before the first command.
//
// The library would repeat a command whose reply was lost, and a repeated SET NX then says "held" about itself; it would
// also dial again after a pause. Both are off: a lock decides by itself what may be repeated.
func Open(t locks.Target, addr string, timeout time.Duration) *redis.Client {
	return redis.NewClient(&redis.Options{
		Addr:                     addr,
		Dialer:                   t.Connect,
		Username:                 t.Access.User,
		Password:                 t.Access.Password.Reveal(),
		Protocol:                 2,
		MaxRetries:               -1,
		DialerRetries:            1,
		DialTimeout:              timeout,
		ReadTimeout:              timeout,
		WriteTimeout:             timeout,
		PoolTimeout:              timeout,
		PoolSize:                 256, // after so many dials that failed the library refuses to dial for a second
		MinIdleConns:             0,
		ContextTimeoutEnabled:    true,
		DisableIdentity:          true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
}

// Quiet stops the library from writing to standard error by itself. It sets a variable of that library, so it is for
// main functions to call.
func Quiet() {
	redis.SetLogger(&logging.VoidLogger{})
}

// Classify makes err definite where it is: nothing was sent, or the server refused before it did anything.
func Classify(err error) error {
	if err == nil {
		return nil
	}
	var op *net.OpError
	switch {
	case errors.As(err, &op) && op.Op == "dial", errors.Is(err, redis.ErrPoolTimeout), errors.Is(err, redis.ErrPoolExhausted):
		return fmt.Errorf("%w: %w", locks.ErrUnavailable, err)
	case strings.Contains(err.Error(), noSentinel):
		return fmt.Errorf("%w: %w", locks.ErrUnavailable, err)
	case refused(err):
		return fmt.Errorf("%w: the server refused it: %w", locks.ErrUnavailable, err)
	}
	return err
}

// noSentinel is what the library says where it found no primary to dial. It has no value for that error.
const noSentinel = "all sentinels specified in configuration are unreachable"

// refused says whether the server answered with an error that it gives before it runs anything.
func refused(err error) bool {
	var reply redis.Error
	if !errors.As(err, &reply) {
		return false
	}
	for _, prefix := range []string{"LOADING ", "READONLY ", "MASTERDOWN ", "CLUSTERDOWN ", "NOAUTH ", "WRONGPASS ", "NOREPLICAS "} {
		if strings.HasPrefix(reply.Error(), prefix) {
			return true
		}
	}
	return false
}

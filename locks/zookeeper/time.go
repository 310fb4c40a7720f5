package zookeeper

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/go-zookeeper/zk"
)

// clockSession is how long the session for one question lives at most, should nobody end it.
const clockSession = 2 * time.Second

// clock is the wall clock of the server at addr: no question asks for it, but what is created carries its time, which is that
// of the server that leads. Followers can't be asked. The node that is created ends with its session.
func clock(ctx context.Context, addr string) (time.Time, error) {
	m, err := mode(ctx, addr)
	if err != nil {
		return time.Time{}, err
	}
	if !leads(m) {
		return time.Time{}, errors.New("a follower tells no time")
	}
	var at time.Time
	err = asking(ctx, addr, func(conn *zk.Conn) (err error) {
		at, err = created(conn)
		return err
	})
	if err != nil {
		return time.Time{}, err
	}
	return at, nil
}

// asking calls f with a session of its own at the server at addr.
func asking(ctx context.Context, addr string, f func(*zk.Conn) error) error {
	dial := func(network, addr string, limit time.Duration) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		return new(net.Dialer).DialContext(ctx, network, addr)
	}
	conn, _, err := zk.Connect([]string{addr}, clockSession, zk.WithDialer(dial), zk.WithLogger(silent{}), zk.WithLogInfo(false))
	if err != nil {
		return fmt.Errorf("connect to %s: %w", addr, err)
	}
	answer := make(chan error, 1)
	go func() { answer <- f(conn); conn.Close() }()
	select {
	case err := <-answer:
		return err
	case <-ctx.Done():
		go conn.Close() // it waits for the server, and ends the question too
		return ctx.Err()
	}
}

func created(conn *zk.Conn) (time.Time, error) {
	path, err := conn.Create("/locktest-clock-", nil, zk.FlagEphemeral|zk.FlagSequence, zk.WorldACL(zk.PermAll))
	if err != nil {
		return time.Time{}, fmt.Errorf("create a node: %w", err)
	}
	_, stat, err := conn.Get(path)
	if err != nil {
		return time.Time{}, fmt.Errorf("read %s: %w", path, err)
	}
	return time.UnixMilli(stat.Ctime), nil
}

package zookeeper

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"slices"
	"time"

	"github.com/locktest/locktest/internal/wire"
)

// expire ends sessions as the servers would whose time is over: it takes each over by a connection of its own, with the session's
// password, and closes it. That is how ZooKeeper's own documentation has a session's end tested.
func expire(ctx context.Context, addrs map[string]string, sessions []wire.Session) (int, error) {
	ended := 0
	for _, s := range sessions {
		live, err := closeAnywhere(ctx, addrs, s)
		if err != nil {
			return ended, fmt.Errorf("end session 0x%x: %w", s.ID, err)
		}
		if live {
			ended++
		}
	}
	return ended, nil
}

func closeAnywhere(ctx context.Context, addrs map[string]string, s wire.Session) (live bool, err error) {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(addrs)) {
		lived, err := closeAt(ctx, addrs[name], s)
		live = live || lived // a server may close it and say so to nobody: then the next one doesn't know it any more
		if err == nil {
			return live, nil
		}
		errs = append(errs, fmt.Errorf("%s: %w", name, err))
	}
	return false, errors.Join(errs...)
}

// takeOver is how long a session is asked for that is closed at once; expireLimit, how long one server may take for both.
const (
	takeOver    = 10 * time.Second
	expireLimit = 2 * time.Second
)

// closeAt takes a session over and closes it; live is whether it had not ended already, on an error too.
func closeAt(ctx context.Context, addr string, s wire.Session) (live bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, expireLimit)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
	if err != nil {
		return false, err
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	greeting, err := exchange(conn, takingOver(s))
	if err != nil {
		return false, err
	}
	if len(greeting) < 8 {
		return false, fmt.Errorf("%s answered %x", addr, greeting)
	}
	if binary.BigEndian.Uint32(greeting[4:]) == 0 {
		return false, nil
	}
	number, operation := uint32(1), int32(closeSession)
	_, err = exchange(conn, binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, number), uint32(operation)))
	return true, err
}

// closeSession is the number of that operation.
const closeSession = -11

// takingOver is a client's greeting that names a session: a version, the last change seen, the session's time, id and
// password, and whether reading is enough.
func takingOver(s wire.Session) []byte {
	b := binary.BigEndian.AppendUint32(nil, 0)
	b = binary.BigEndian.AppendUint64(b, 0)
	b = binary.BigEndian.AppendUint32(b, uint32(takeOver.Milliseconds()))
	b = binary.BigEndian.AppendUint64(b, uint64(s.ID))
	b = binary.BigEndian.AppendUint32(b, uint32(len(s.Secret)))
	return append(append(b, s.Secret...), 0)
}

// exchange sends a frame and reads one.
func exchange(conn net.Conn, body []byte) ([]byte, error) {
	if _, err := conn.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)); err != nil {
		return nil, err
	}
	head := make([]byte, 4)
	if _, err := io.ReadFull(conn, head); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(head)
	if n > 1<<20 {
		return nil, fmt.Errorf("an answer of %d bytes", n)
	}
	answer := make([]byte, n)
	_, err := io.ReadFull(conn, answer)
	return answer, err
}

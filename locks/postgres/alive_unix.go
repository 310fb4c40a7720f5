//go:build unix

package postgres

import (
	"errors"
	"net"
	"syscall"
)

// silent says whether a connection is open and has nothing to read, as far as this machine knows, without waiting: the client
// library's own check waits for a millisecond, which is many times what a statement takes. known is false where it can't be asked.
func silent(conn net.Conn) (is, known bool) {
	socket, ok := conn.(syscall.Conn)
	if !ok {
		return false, false
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return false, false
	}
	var got error
	err = raw.Control(func(fd uintptr) {
		_, _, got = syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
	})
	return err == nil && (errors.Is(got, syscall.EAGAIN) || errors.Is(got, syscall.EWOULDBLOCK)), err == nil
}

//go:build !unix

package postgres

import "net"

// silent can't be asked here.
func silent(net.Conn) (is, known bool) { return false, false }

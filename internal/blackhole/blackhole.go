// Package blackhole has packets between addresses of this machine vanish below TCP: neither data nor an acknowledgement nor the
// end of a connection arrives, so that each side's keep-alives and retransmissions run into the void, as when a cable is cut.
// It knows no link and no node.
//
// The rules stand in this network namespace and not in one of their own: what is already connected could not be moved into
// another one, and clients that somebody else started would not be in it. They name an address with its port at one end at
// least, in a chain of their own that is made, and removed, in one step. Chains carry the number of their process and the time
// at which it began, so that those of a dead one can be told from those in use. Linux, as root, with iptables.
package blackhole

import (
	"fmt"
	"net"
	"strings"
)

// Flow is what vanishes: TCP packets from Source to Dest, each HOST:PORT with a loopback address; one of them may be empty, for any.
type Flow struct{ Source, Dest string }

// Both returns the flows between two addresses in both directions.
func Both(a, b string) []Flow { return []Flow{{a, b}, {b, a}} }

// match is how a rule names the flow.
func (f Flow) match() (string, error) {
	words := []string{"-p tcp"}
	for _, end := range []struct{ addr, host, port string }{{f.Source, "-s", "--sport"}, {f.Dest, "-d", "--dport"}} {
		if end.addr == "" {
			continue
		}
		host, port, err := net.SplitHostPort(end.addr)
		ip := net.ParseIP(host).To4()
		if err != nil || ip == nil || !ip.IsLoopback() || port == "" || strings.Trim(port, "0123456789") != "" {
			return "", fmt.Errorf("%q is no loopback address with a port", end.addr)
		}
		words = append(words, end.host, ip.String(), end.port, port)
	}
	if len(words) == 1 {
		return "", fmt.Errorf("a flow between any two addresses")
	}
	return strings.Join(words, " "), nil
}

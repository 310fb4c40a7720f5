package clustertest

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Connections counts the established TCP connections to any of addrs, and returns those whose dialing end isn't this
// process's: where all links of a network are in this process, these bypass them. It reads /proc, and so is for Linux.
func Connections(addrs ...string) (all int, direct []string, err error) {
	servers := map[netip.AddrPort]bool{}
	for _, a := range addrs {
		ap, err := netip.ParseAddrPort(a)
		if err != nil {
			return 0, nil, err
		}
		servers[ap] = true
	}
	b, err := os.ReadFile("/proc/net/tcp")
	if err != nil {
		return 0, nil, err
	}
	ours, err := ownSockets() // after the table: one that was closed meanwhile is in neither, or is asked for again
	if err != nil {
		return 0, nil, err
	}
	for _, line := range strings.Split(string(b), "\n")[1:] {
		f := strings.Fields(line)
		if len(f) < 10 || f[3] != established || f[9] == "0" {
			continue
		}
		local, remote := tableAddr(f[1]), tableAddr(f[2])
		if !servers[remote] {
			continue
		}
		if all++; !ours["socket:["+f[9]+"]"] {
			direct = append(direct, fmt.Sprintf("%s to %s", local, remote))
		}
	}
	return all, direct, nil
}

// established is the state's number in /proc/net/tcp (proc_net_tcp in the kernel's documentation).
const established = "01"

// tableAddr reads 0100007F:1F90, an address in the machine's byte order and a port.
func tableAddr(text string) netip.AddrPort {
	ip, port, _ := strings.Cut(text, ":")
	a, err1 := strconv.ParseUint(ip, 16, 32)
	p, err2 := strconv.ParseUint(port, 16, 16)
	if err1 != nil || err2 != nil {
		return netip.AddrPort{}
	}
	var b [4]byte
	binary.NativeEndian.PutUint32(b[:], uint32(a))
	return netip.AddrPortFrom(netip.AddrFrom4(b), uint16(p))
}

// ownSockets are this process's, as its open files name them.
func ownSockets() (map[string]bool, error) {
	fds, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		return nil, err
	}
	out := map[string]bool{}
	for _, fd := range fds {
		if name, err := os.Readlink(fd); err == nil {
			out[name] = true
		}
	}
	return out, nil
}

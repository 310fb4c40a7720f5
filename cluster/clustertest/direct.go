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

// Direct returns the established TCP connections to any of addrs whose dialing end isn't this process's: where all links
// of a network are in this process, these bypass them. It reads /proc, and so is for Linux.
func Direct(addrs ...string) ([]string, error) {
	servers := map[netip.AddrPort]bool{}
	for _, a := range addrs {
		ap, err := netip.ParseAddrPort(a)
		if err != nil {
			return nil, err
		}
		servers[ap] = true
	}
	b, err := os.ReadFile("/proc/net/tcp")
	if err != nil {
		return nil, err
	}
	ours, err := ownSockets() // after the table: one that was closed meanwhile is in neither, or is asked for again
	if err != nil {
		return nil, err
	}
	var out []string
	for _, line := range strings.Split(string(b), "\n")[1:] {
		f := strings.Fields(line)
		if len(f) < 10 || f[3] != established || f[9] == "0" {
			continue
		}
		local, remote := tableAddr(f[1]), tableAddr(f[2])
		if servers[remote] && !ours["socket:["+f[9]+"]"] {
			out = append(out, fmt.Sprintf("%s to %s", local, remote))
		}
	}
	return out, nil
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

// Package ports hands out TCP ports for servers and proxies: below the range from which the system takes the source ports
// of connections, so that none is stolen while its server is down, and never the same to two runs at once. It knows no server.
package ports

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
)

const (
	lowest     = 10000
	highest    = 32768 // the usual begin of the range of source ports
	blockPorts = 64
)

// Allocator hands out ports of blocks that it has locked against other runs on this machine, by files in the system's folder
// for temporary ones: such a lock ends with its process.
type Allocator struct {
	mu     sync.Mutex
	host   string
	dir    string
	limit  int
	block  int // the next to try
	tried  int
	left   []int
	locks  []*os.File
	closed bool
}

// New returns an Allocator of ports that are free at host, a loopback address. Close it once nothing listens any more.
func New(host string) (*Allocator, error) {
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("locktest-ports-%d", os.Getuid()))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("reserve ports: %w", err)
	}
	a := &Allocator{host: host, dir: dir, limit: ceiling()}
	// Runs begin at different places only to try fewer locked blocks; nothing depends on it.
	a.block = os.Getpid() % a.blocks()
	return a, nil
}

// Take returns a port that nobody listens on now, and that no other Allocator gives away before Close.
func (a *Allocator) Take() (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return 0, fmt.Errorf("reserve a port: the allocator is closed")
	}
	for {
		for len(a.left) > 0 {
			port := a.left[0]
			a.left = a.left[1:]
			if Free(a.host, port) {
				return port, nil
			}
		}
		if err := a.lockBlock(); err != nil {
			return 0, fmt.Errorf("reserve a port: %w", err)
		}
	}
}

// Close gives the ports back. It may be called twice.
func (a *Allocator) Close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closed = true
	for _, f := range a.locks {
		f.Close() // the lock ends with it
	}
	a.locks = nil
	return nil
}

// Free says whether a server could listen at host and port now.
func Free(host string, port int) bool {
	l, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port)))
	if err != nil {
		return false
	}
	l.Close()
	return true
}

func (a *Allocator) blocks() int { return (a.limit - lowest) / blockPorts }

func (a *Allocator) lockBlock() error {
	for ; a.tried < a.blocks(); a.tried++ {
		n := (a.block + a.tried) % a.blocks()
		first := lowest + n*blockPorts
		f, err := os.OpenFile(filepath.Join(a.dir, strconv.Itoa(first)), os.O_CREATE|os.O_RDWR, 0o644)
		if err != nil {
			return err
		}
		if !lock(f) {
			f.Close()
			continue
		}
		a.tried++
		a.locks = append(a.locks, f)
		for p := first; p < first+blockPorts; p++ {
			a.left = append(a.left, p)
		}
		return nil
	}
	return fmt.Errorf("no free port from %d to %d", lowest, a.limit)
}

// ceiling is where the system's source ports begin.
func ceiling() int {
	b, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	if err != nil {
		return highest
	}
	f := strings.Fields(string(b))
	if len(f) == 0 {
		return highest
	}
	low, err := strconv.Atoi(f[0])
	if err != nil || low < lowest+blockPorts*16 { // a host that leaves no room below gets the usual places all the same
		return highest
	}
	return min(low, highest)
}

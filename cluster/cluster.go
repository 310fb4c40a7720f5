// Package cluster is what locks run on: nodes that can be started, killed and paused, and the network between clients
// and nodes. It knows no lock; a Service says which server a node runs.
package cluster

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/locktest/locktest/internal/wire"
)

// Cluster is a set of nodes.
type Cluster interface {
	// Start returns once every node answers. On an error everything that was started is stopped.
	Start(ctx context.Context) error
	Nodes() []Node
	// Close stops every node, paused or killed ones too, and removes what they wrote but their logs. It may be called twice.
	Close() error
	// Describe says what runs, in a few words: "redis-server 7.0.15, 5 processes".
	Describe() string
}

// Node is one server. Its further powers are found by assertion.
type Node interface {
	Name() string // n1
	Addr() string // where it really listens; clients dial the Network's address instead
}

// Restart says what a node finds when it comes back.
type Restart string

const (
	WithData   Restart = "data"
	WithPrefix Restart = "prefix" // an earlier state of the data, as after a power cut
	Empty      Restart = "empty"
)

// Killer is a Node that can die as by SIGKILL and come back, at the same address unless its kind of cluster says otherwise.
type Killer interface {
	Kill(ctx context.Context) error
	// Restart returns once the node answers.
	Restart(ctx context.Context, with Restart) error
}

// RestartChecker is a Killer that can't come back in every way; CanRestart says why not, before anything is started.
type RestartChecker interface{ CanRestart(with Restart) error }

// Pauser is a Node whose whole process tree can be stopped.
type Pauser interface {
	Pause(ctx context.Context) error
	Resume(ctx context.Context) error
}

// Staller is a Node whose disk can be kept from taking anything for a while: the server waits in the kernel as it would for a
// disk that hangs. A kill ends it too.
type Staller interface {
	// CanStall says why it can't be; nil where it can. It may be asked before the start.
	CanStall() error
	Stall(ctx context.Context) error
	// Unstall lets the disk go on. One that goes on, or whose node is down, is nothing to do.
	Unstall(ctx context.Context) error
}

// Forgetful is a Node that may keep nothing of its data when it is killed, whatever it is restarted with.
type Forgetful interface{ Forgets() bool }

// LogFile is a Node that writes a log.
type LogFile interface{ LogFile() string }

// Pidded is a Node that is an OS process; 0 while it is down.
type Pidded interface{ Pid() int }

// PidChecker is a Pidded whose process may be out of this machine's reach; HasPid says why it is, also before the start.
type PidChecker interface{ HasPid() error }

// Watched is a Node that tells when it ended without having been killed; nil while it is as it should be.
type Watched interface{ Failed() error }

// NodeConfig is what a Service needs to start one node.
type NodeConfig struct {
	Name    string
	Index   int    // from 0
	Host    string // a loopback address
	Port    int
	Dir     string // of the node's own, exists
	Options map[string]string
	Binary  string // where it was found; empty for one that is embedded
	// Run runs a program of the server's to its end, as the server's user, in Dir; its error has the end of the output. nil for
	// one that is embedded.
	Run   func(ctx context.Context, path string, args ...string) error
	Ports map[string]int // numbers of all ports by name, ClientPort's too
	Nodes int            // how many there are, this one included
	Peers []Peer         // all nodes in order, this one included; nil without Peering or for a single node
}

// Service says what server a node runs, apart from how it is hosted.
type Service struct {
	Name   string // redis
	Binary string // redis-server; found by LOCKTEST_REDIS_SERVER, then on PATH
	Env    string // LOCKTEST_REDIS_SERVER
	// Places are patterns of folders that are looked into before PATH, the last match first: "/usr/lib/postgresql/*/bin".
	Places []string
	Hint   []string // what to type to get it: "apt install redis-server"
	// Protocol is what it speaks with clients, as one of internal/wire's names; empty: none of those.
	Protocol string
	Nodes    int // default count
	// Options are the allowed values of the server's options by name. Others are refused.
	Options map[string][]string
	// Unprivileged is a server that refuses to run as root, who then starts it, and owns its folder, as nobody.
	Unprivileged bool
	// Prepare is called before each start of a process, to make what the server wants to find in its folder. All nodes start at
	// once: one that needs what another has waits for it until ctx ends. nil: nothing.
	Prepare func(ctx context.Context, c NodeConfig) error
	// Leave is called once a node is dead for good, before its folder is removed: to give back what the server took from
	// the system. nil: nothing.
	Leave func(dir string) error
	// Program is what a node runs where not all run Binary, such as a pooler in front; its error is a *Error where a person
	// can mend it. nil: Binary.
	Program func(NodeConfig) (path string, err error)
	// Command is the argument list without the binary, and additions to the environment.
	Command func(NodeConfig) (argv []string, env []string)
	// Embed starts it in this process, listening on Host:Port. nil: it can't be.
	Embed func(ctx context.Context, c NodeConfig) (Embedded, error)
	// Ready returns nil once the server at addr answers.
	Ready func(ctx context.Context, addr string) error
	// Version of the binary at path, or of the server that is embedded ("" as path).
	Version func(ctx context.Context, path string) (string, error)
	// Forgets says whether a server with these options keeps nothing when it is killed. nil: it keeps its data.
	Forgets func(options map[string]string) bool
	// Wipe removes the data from a node's directory.
	Wipe func(dir string) error
	// Prefix puts a node's directory back to an earlier state, as after a power cut. nil: it can't be.
	Prefix func(dir string) error

	// Child is the first argument under which this program is the server itself, as a process of its own; the arguments of
	// Command follow it. Empty: it has none.
	Child string
	// Needs says what is missing besides the binary: a *Error. nil: nothing is needed.
	Needs func() error
	// Ports names what a node listens on besides ClientPort.
	Ports []string
	// Peering is how the nodes reach each other, where there are at least two. nil: they don't.
	Peering *Peering
	// Formed returns nil once the nodes at addrs are one cluster that serves. It is asked after the first start of all of them;
	// a node that comes back later is as far as Ready says. nil: nodes that are ready are all there is.
	Formed func(ctx context.Context, addrs map[string]string) error
	// Rejoin tells the others, by their addresses for clients as the harness reaches them, that a node comes back without its
	// data; it is called after Wipe and before Prepare, and may leave a mark in Dir for them. nil: they need not know.
	Rejoin func(ctx context.Context, c NodeConfig, others map[string]string) error
	// Leaders returns the names of the nodes, of those that run at addrs, that say that they lead. nil: the service has no leader.
	Leaders func(ctx context.Context, addrs map[string]string) ([]string, error)
	// Promote makes one of the nodes at addrs the leader. nil: it can't be.
	Promote func(ctx context.Context, addrs map[string]string, name string) error
	// Replicas returns the names of the nodes, of those that run at addrs, that follow another one and can be promoted. nil: the
	// service has none.
	Replicas func(ctx context.Context, addrs map[string]string) ([]string, error)
	// FailOver asks those that watch over the nodes at addrs to choose another leader. nil: nobody does.
	FailOver func(ctx context.Context, addrs map[string]string) error
	// Following is how an old leader learns of the one that was promoted; ByCommand, it is by Follow.
	Following Following
	Follow    func(ctx context.Context, addrs map[string]string, name, leader string) error
	// Disconnect ends the connections that the server at addr has from such addresses, and says how many it were. nil: it can't.
	Disconnect func(ctx context.Context, addr string, from []string) (int, error)
	// Expire ends sessions at whichever of addrs takes it, and says how many there still were. nil: there are none, or they can't be.
	Expire func(ctx context.Context, addrs map[string]string, sessions []wire.Session) (int, error)
	// Residue lists what the server at addr still keeps of the lock of that name: keys, nodes, locks of sessions. What is meant
	// to stay, such as a counter of tokens, is not among it. nil: it can't be asked.
	Residue func(ctx context.Context, addr, lock string) ([]Residue, error)
	// Flush removes everything that the server at addr keeps. nil: it can't.
	Flush func(ctx context.Context, addr string) error
	// Evict has the server at addr give up all keys for want of memory, and says how many it were. nil: it doesn't do such things.
	Evict func(ctx context.Context, addr string) (int, error)
	// Time asks the server at addr for its wall clock. nil: it can't be asked.
	Time func(ctx context.Context, addr string) (time.Time, error)
	// LateTLS is a server whose connections begin plainly, and turn to TLS when they are asked to.
	LateTLS bool
	// Container is how it runs in a container. nil: it can't.
	Container *Container
}

// Container says how a server runs in a container.
type Container struct {
	Image string // where a scenario names none: "redis:7-alpine"; a version replaces what follows the colon
	Port  int    // of clients, inside
	// Command is the argument list, the program first where the image wants it so, and additions to the environment. Host and
	// Port of its NodeConfig are those inside; Dir is empty, since what is written stays in the container.
	Command func(NodeConfig) (argv, env []string)
}

// Embedded is a server in this process. Stop and Start keep its data and its address; Reset forgets the data.
type Embedded interface {
	io.Closer
	Stop() error
	Start() error
	Reset() error
	// Pause keeps the server from answering until Resume; nothing sent meanwhile is lost.
	Pause() error
	Resume() error
}

// CheckOptions says which of options the service doesn't know.
func (s *Service) CheckOptions(options map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(options)) {
		allowed, ok := s.Options[name]
		if !ok {
			return fmt.Errorf("%s has no option %q, only %s", s.Name, name, list(slices.Sorted(maps.Keys(s.Options))))
		}
		if !slices.Contains(allowed, options[name]) {
			return fmt.Errorf("%s: option %s is %q, want %s", s.Name, name, options[name], list(allowed))
		}
	}
	return nil
}

func list(words []string) string {
	if len(words) == 0 {
		return "none"
	}
	return strings.Join(words, ", ")
}

// ReadyLimit is how long a node may take to answer.
const ReadyLimit = 60 * time.Second

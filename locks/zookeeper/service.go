package zookeeper

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/internal/wire"
)

const (
	quorumPort   = "quorum"
	electionPort = "election"

	configFile = "zoo.cfg"
	dataDir    = "data"
)

// Service is a ZooKeeper server, alone or as one of three, of the Java and the jar that are found on the machine.
//
// Ticks are short, so that a failover and a session's end fit into a short run: a session lasts at least 400 ms, the least
// that two ticks allow. Data isn't flushed to the disk: processes are killed here, machines aren't.
//
// A server tells its peers in an election where it can be reached, as an address and not as a name, so that links rewrite it.
// A follower dials a new leader that doesn't listen yet; accepted and then dropped it would begin a new election, so that the
// link waits for the leader.
func Service() cluster.Service {
	return cluster.Service{
		Name:    "zookeeper",
		Binary:  "java",
		Env:     "LOCKTEST_JAVA",
		Hint:    []string{"apt install default-jre-headless libzookeeper-java"},
		Needs:   needs,
		Nodes:   3,
		Options: map[string][]string{},
		Ports:   []string{quorumPort, electionPort},
		Peering: &cluster.Peering{
			Ports:    []string{quorumPort, electionPort},
			Rewrite:  []string{electionPort},
			Patience: 1500 * time.Millisecond,
			Patient:  []string{quorumPort},
		},
		Prepare:  prepare,
		Command:  command,
		Ready:    listens,
		Formed:   formed,
		Version:  version,
		Wipe:     wipe,
		Leaders:  leaders,
		Replicas: followers,
		Time:     clock,
		Residue:  residue,

		Protocol: wire.ZooKeeper,
		Expire:   expire,
	}
}

func command(c cluster.NodeConfig) (argv, env []string) {
	path, err := classPath()
	if err != nil {
		path = debianJar // asked for before the start; java says the rest
	}
	return []string{
		// A small and quickly started virtual machine.
		"-Xms32m", "-Xmx64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData",
		"-Dzookeeper.cnxTimeout=500", "-Dzookeeper.fastleader.minNotificationInterval=50", "-Dzookeeper.fastleader.maxNotificationInterval=500",
		"-Dzookeeper.preAllocSize=1024", "-Dzookeeper.admin.enableServer=false",
		"-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-Dorg.slf4j.simpleLogger.showDateTime=true",
		"-Dorg.slf4j.simpleLogger.dateTimeFormat=HH:mm:ss.SSS",
		"-cp", path, "org.apache.zookeeper.server.quorum.QuorumPeerMain", filepath.Join(c.Dir, configFile),
	}, nil
}

// prepare writes the configuration: a list of servers of the node's own, with itself where it listens and the others where
// its links are.
func prepare(_ context.Context, c cluster.NodeConfig) error {
	lines := []string{
		"tickTime=200", "initLimit=10", "syncLimit=5", "dataDir=" + filepath.Join(c.Dir, dataDir),
		fmt.Sprintf("clientPort=%d", c.Port), "clientPortAddress=" + c.Host, "maxClientCnxns=0", "maxSessionTimeout=600000",
		"forceSync=no", "admin.enableServer=false", "4lw.commands.whitelist=srvr,ruok", "reconfigEnabled=false",
	}
	if len(c.Peers) > 1 {
		lines = append(lines, "standaloneEnabled=false")
		for i, p := range c.Peers {
			_, election, err := net.SplitHostPort(p.Addrs[electionPort])
			if err != nil {
				return fmt.Errorf("address of %s: %w", p.Name, err)
			}
			lines = append(lines, fmt.Sprintf("server.%d=%s:%s", i+1, p.Addrs[quorumPort], election))
		}
	}
	data := filepath.Join(c.Dir, dataDir)
	return errors.Join(
		os.MkdirAll(data, 0o755),
		os.WriteFile(filepath.Join(data, "myid"), []byte(strconv.Itoa(c.Index+1)), 0o644),
		os.WriteFile(filepath.Join(c.Dir, configFile), []byte(strings.Join(lines, "\n")+"\n"), 0o644),
	)
}

// listens is all that can be said of a single server: without a quorum it answers, and serves nobody.
func listens(ctx context.Context, addr string) error {
	text, err := word(ctx, addr, "ruok")
	if err == nil && !strings.Contains(text, "imok") {
		return fmt.Errorf("%s answered %q", addr, text)
	}
	return err
}

// formed wants every server to serve, and one to lead.
func formed(ctx context.Context, addrs map[string]string) error {
	leading := 0
	for _, name := range slices.Sorted(maps.Keys(addrs)) {
		switch m, err := mode(ctx, addrs[name]); {
		case err != nil:
			return fmt.Errorf("%s: %w", name, err)
		case leads(m):
			leading++
		}
	}
	if leading != 1 {
		return fmt.Errorf("%d of them lead", leading)
	}
	return nil
}

// askLimit is how long one server may take to say who leads; one that is stopped never answers.
const askLimit = 500 * time.Millisecond

// leaders are those that believe it of themselves.
func leaders(ctx context.Context, addrs map[string]string) ([]string, error) {
	return where(ctx, addrs, leads)
}

// followers say that they follow.
func followers(ctx context.Context, addrs map[string]string) ([]string, error) {
	return where(ctx, addrs, func(mode string) bool { return mode == "follower" })
}

// where returns the servers whose mode satisfies is.
func where(ctx context.Context, addrs map[string]string, is func(mode string) bool) ([]string, error) {
	asked, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	answers := make(chan string, len(addrs))
	for name, addr := range addrs {
		go func() {
			if m, err := mode(asked, addr); err != nil || !is(m) {
				name = ""
			}
			answers <- name
		}()
	}
	var out []string
	for range addrs {
		if name := <-answers; name != "" {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out, ctx.Err()
}

func leads(mode string) bool { return mode == "leader" || mode == "standalone" }

var modeLine = regexp.MustCompile(`(?m)^Mode: (\w+)`)

// mode is leader, follower, observer or standalone; an error while it serves nobody.
func mode(ctx context.Context, addr string) (string, error) {
	text, err := word(ctx, addr, "srvr")
	if err != nil {
		return "", err
	}
	m := modeLine.FindStringSubmatch(text)
	if m == nil {
		return "", errors.New(strings.TrimSpace(text))
	}
	return m[1], nil
}

// word asks one of ZooKeeper's questions of four letters.
func word(ctx context.Context, addr, question string) (string, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if _, err := conn.Write([]byte(question)); err != nil {
		return "", err
	}
	answer := make([]byte, 0, 1024)
	for len(answer) < cap(answer) {
		n, err := conn.Read(answer[len(answer):cap(answer)])
		answer = answer[:len(answer)+n]
		if err != nil {
			break // the server closes after its answer
		}
	}
	if len(answer) == 0 {
		return "", fmt.Errorf("%s: no answer to %s", addr, question)
	}
	return string(answer), nil
}

func wipe(dir string) error { return os.RemoveAll(filepath.Join(dir, dataDir)) }

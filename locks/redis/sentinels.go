package redis

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/locktest/locktest/cluster"
)

// sentinels is how many watch over the servers: the last nodes of a cluster.
const sentinels = 3

// MasterName is how Sentinels call what they watch over.
const MasterName = "locktest"

// sentinelQuorum is how many have to agree that the primary is gone.
const sentinelQuorum = 2

// SentinelService is a primary, n1, its replicas, and three Sentinels as the last nodes, which make a replica the primary when
// they miss the old one for some two seconds.
func SentinelService() cluster.Service {
	s := ReplicatedService()
	s.Nodes = 6
	s.Prepare = func(_ context.Context, c cluster.NodeConfig) error {
		if c.Nodes < sentinels+2 {
			return &cluster.Error{Code: cluster.CodeUnhostable, Message: fmt.Sprintf("%d nodes are too few for a failover", c.Nodes), Fix: []string{"write nodes: 5 (a primary, a replica and three Sentinels) or more"}}
		}
		if isSentinel(c) {
			return configureSentinel(c)
		}
		return configure(c, c.Nodes-sentinels)
	}
	s.Command = func(c cluster.NodeConfig) (argv, env []string) {
		argv = []string{filepath.Join(c.Dir, configFile)}
		if isSentinel(c) {
			argv = append(argv, "--sentinel")
		}
		return argv, nil
	}
	s.Ready = sentinelReady
	s.Residue = residueBesideSentinels
	s.Promote = failOverTo
	s.FailOver = failOver
	s.Following, s.Follow = cluster.ByItself, nil // Sentinels tell the old primary
	return s
}

// residueBesideSentinels is residue, of which a Sentinel has none: it has no keys, and doesn't know the commands that ask for them.
func residueBesideSentinels(ctx context.Context, addr, lock string) ([]cluster.Residue, error) {
	left, err := residue(ctx, addr, lock)
	if redis.HasErrorPrefix(err, "unknown command") {
		return nil, nil
	}
	return left, err
}

func isSentinel(c cluster.NodeConfig) bool { return c.Index >= c.Nodes-sentinels }

func configureSentinel(c cluster.NodeConfig) error {
	path := filepath.Join(c.Dir, configFile)
	if there, err := exists(path); there || err != nil {
		return err
	}
	lines := [][]string{
		{"bind", c.Host}, {"port", strconv.Itoa(c.Port)}, {"dir", c.Dir}, {"protected-mode", "no"},
		{"sentinel", "resolve-hostnames", "yes"}, {"sentinel", "announce-hostnames", "yes"},
		{"sentinel", "announce-ip", cluster.HostName(c.Name)}, {"sentinel", "announce-port", strconv.Itoa(c.Port)},
		append([]string{"sentinel", "monitor", MasterName}, append(peer(c, 0), strconv.Itoa(sentinelQuorum))...),
		{"sentinel", "down-after-milliseconds", MasterName, strconv.FormatInt(patienceOf(c).Milliseconds(), 10)},
		{"sentinel", "failover-timeout", MasterName, "3000"},
		{"sentinel", "parallel-syncs", MasterName, "10"}, // or replicas out of reach would hold up the others
	}
	for i := 1; i < c.Nodes-sentinels; i++ { // who isn't found at once is found ten seconds later
		lines = append(lines, append([]string{"sentinel", "known-replica", MasterName}, peer(c, i)...))
	}
	return writeConfig(path, lines)
}

// patienceOf is how long a Sentinel misses the primary before it says so. It differs, since they see a crash here within the
// same millisecond, each would vote for itself, and the next election would be six seconds later. At 500 ms one failover was
// followed by another.
func patienceOf(c cluster.NodeConfig) time.Duration {
	return 1500*time.Millisecond + time.Duration(c.Nodes-1-c.Index)*300*time.Millisecond
}

// sentinelReady wants a Sentinel to know the others and a replica; a server to be as without Sentinels.
func sentinelReady(ctx context.Context, addr string) error {
	r, err := role(ctx, addr)
	if err != nil {
		return err
	}
	if r != "" { // Sentinels have none
		return replicaReady(ctx, addr)
	}
	m, err := master(ctx, addr)
	if err != nil {
		return err
	}
	if m["num-other-sentinels"] != strconv.Itoa(sentinels-1) || m["num-slaves"] == "0" {
		return fmt.Errorf("it knows %s other Sentinels and %s replicas", m["num-other-sentinels"], m["num-slaves"])
	}
	return nil
}

// master is what a Sentinel knows of the primary.
func master(ctx context.Context, addr string) (map[string]string, error) {
	return askSentinel(ctx, addr, func(ctx context.Context, s *redis.SentinelClient) (map[string]string, error) {
		return s.Master(ctx, MasterName).Result()
	})
}

func askSentinel[T any](ctx context.Context, addr string, question func(context.Context, *redis.SentinelClient) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	if err := ping(ctx, addr); err != nil { // as in ask
		var none T
		return none, err
	}
	s := redis.NewSentinelClient(&redis.Options{Addr: addr, Protocol: 2, MaxRetries: -1, DialerRetries: 1, DisableIdentity: true, ContextTimeoutEnabled: true})
	defer s.Close()
	return question(ctx, s)
}

// failOver asks the Sentinels for a failover, as SENTINEL FAILOVER does, to a replica of their choice.
func failOver(ctx context.Context, addrs map[string]string) error {
	before := withRole(ctx, addrs, "master")
	if err := beginFailover(ctx, addrs); err != nil {
		return err
	}
	return await(ctx, "nobody else leads", func() bool {
		return slices.ContainsFunc(withRole(ctx, addrs, "master"), func(name string) bool { return !slices.Contains(before, name) })
	})
}

// failOverTo is the same, and wants name to be who they choose. Among several replicas the others are made ineligible first,
// which Sentinels, who ask every ten seconds otherwise, are made to notice.
func failOverTo(ctx context.Context, addrs map[string]string, name string) error {
	addr, ok := addrs[name]
	if !ok {
		return errors.New("it is down")
	}
	if r, err := role(ctx, addr); err != nil || r == "master" {
		return err
	}
	replicas := withRole(ctx, addrs, "slave")
	if !slices.Contains(replicas, name) {
		return errors.New("it is no replica")
	}
	restore, err := onlyEligible(ctx, addrs, replicas, name)
	if err != nil {
		return errors.Join(err, restore())
	}
	if err = beginFailover(ctx, addrs); err == nil {
		err = await(ctx, "it does not lead", func() bool { r, err := role(ctx, addr); return err == nil && r == "master" })
	}
	return errors.Join(err, restore())
}

// beginFailover has one Sentinel begin a failover.
func beginFailover(ctx context.Context, addrs map[string]string) error {
	return eachSentinel(ctx, addrs, func(s string) error {
		_, err := askSentinel(ctx, s, func(ctx context.Context, s *redis.SentinelClient) (string, error) {
			return s.Failover(ctx, MasterName).Result()
		})
		return err
	})
}

// onlyEligible gives the other replicas a priority of 0, and waits until a Sentinel has seen it. restore undoes that.
func onlyEligible(ctx context.Context, addrs map[string]string, replicas []string, name string) (restore func() error, err error) {
	var changed []string
	restore = func() error {
		if len(changed) == 0 {
			return nil
		}
		errs := []error{everySentinel(context.WithoutCancel(ctx), addrs, "info-period", "10000")}
		for _, addr := range changed {
			errs = append(errs, setPriority(context.WithoutCancel(ctx), addr, "100"))
		}
		return errors.Join(errs...)
	}
	for _, other := range replicas {
		if other == name {
			continue
		}
		changed = append(changed, addrs[other])
		if err := setPriority(ctx, addrs[other], "0"); err != nil {
			return restore, err
		}
	}
	if len(changed) == 0 {
		return restore, nil
	}
	if err := everySentinel(ctx, addrs, "info-period", "200"); err != nil {
		return restore, err
	}
	return restore, await(ctx, "no Sentinel has seen the priorities", func() bool {
		return eachSentinel(ctx, addrs, func(s string) error { return seen(ctx, s, len(changed)) }) == nil
	})
}

func setPriority(ctx context.Context, addr, priority string) error {
	_, err := ask(ctx, addr, func(ctx context.Context, c *redis.Client) (string, error) {
		return c.ConfigSet(ctx, "replica-priority", priority).Result()
	})
	return err
}

// seen says whether a Sentinel knows of n ineligible replicas.
func seen(ctx context.Context, sentinel string, n int) error {
	replicas, err := askSentinel(ctx, sentinel, func(ctx context.Context, s *redis.SentinelClient) ([]map[string]string, error) {
		return s.Replicas(ctx, MasterName).Result()
	})
	for _, r := range replicas {
		if r["slave-priority"] == "0" {
			n--
		}
	}
	if err == nil && n > 0 {
		err = errors.New("it has not seen all priorities")
	}
	return err
}

// eachSentinel calls do for one Sentinel after another until it succeeds.
func eachSentinel(ctx context.Context, addrs map[string]string, do func(addr string) error) error {
	err := errors.New("there is no Sentinel")
	for _, name := range withRole(ctx, addrs, "") {
		if err = do(addrs[name]); err == nil {
			return nil
		}
	}
	return err
}

// everySentinel changes a Sentinel's inner times (SENTINEL DEBUG, Redis 7).
func everySentinel(ctx context.Context, addrs map[string]string, what, ms string) error {
	var errs []error
	for _, name := range withRole(ctx, addrs, "") {
		_, err := ask(ctx, addrs[name], func(ctx context.Context, c *redis.Client) (any, error) {
			return c.Do(ctx, "SENTINEL", "DEBUG", what, ms).Result()
		})
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// failoverLimit is how long Sentinels may take.
const failoverLimit = 20 * time.Second

func await(ctx context.Context, not string, done func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, failoverLimit)
	defer cancel()
	for !done() {
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: %w", not, ctx.Err())
		case <-time.After(20 * time.Millisecond):
		}
	}
	return nil
}

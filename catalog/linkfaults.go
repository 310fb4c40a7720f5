package catalog

import (
	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/internal/wire"
	"github.com/locktest/locktest/nemesis"
	"github.com/locktest/locktest/scenarios"
)

// linkFaults are those on links and what passes them.
func linkFaults() []fault {
	_, nodeWords, anyone := aims()
	return []fault{
		{"black-hole", scenarios.FaultName{
			About: "all packets of the target's links vanish below TCP, so that keep-alives and time-outs find it gone, and new connections time out (Linux, root, iptables; servers as processes)",
			Args:  []string{"of"}, Required: []string{"of"}, Targets: anyone,
			Network: true, NeedsFor: true, Example: "{ on: acquired, limit: 2, for: 6s, black-hole: holder }",
		}, func(f scenarios.Fault) nemesis.Fault { return nemesis.NewBlackHole(target(f.Args)) }},
		{"connection-kill", scenarios.FaultName{
			About: "the server ends connections: Redis by CLIENT KILL, PostgreSQL by pg_terminate_backend, with all locks of the session; those of a client, or all that clients have with a node",
			Args:  []string{"of"}, Required: []string{"of"}, Targets: anyone,
			Network: true, Example: "{ on: acquired, after: 20ms, chance: 20%, limit: 5, connection-kill: holder }",
		}, func(f scenarios.Fault) nemesis.Fault { return nemesis.NewConnectionKill(target(f.Args)) }},
		{"evict", scenarios.FaultName{
			About: "a server gives up all keys, as for want of memory: Redis, with maxmemory 1 and allkeys-random until none is left; writes are refused meanwhile", Args: []string{"of"}, Required: []string{"of"}, Targets: nodeWords,
			Network: true, Example: "{ at: 5s, evict: one }",
		}, func(f scenarios.Fault) nemesis.Fault { return nemesis.NewEvict(target(f.Args)) }},
		{"flush", scenarios.FaultName{
			About: "a server forgets all that it keeps, as by an administrator's mistake: Redis, by FLUSHALL", Args: []string{"of"}, Required: []string{"of"}, Targets: nodeWords,
			Network: true, Example: "{ at: 5s, flush: n1 }",
		}, func(f scenarios.Fault) nemesis.Fault { return nemesis.NewFlush(target(f.Args)) }},
		{"session-expire", scenarios.FaultName{
			About: "the server ends sessions with all that they hold: etcd by revoking the leases that were granted over the client's connections, ZooKeeper by closing the client's session from elsewhere with its password",
			Args:  []string{"of"}, Required: []string{"of"}, Targets: anyone,
			Network: true, Example: "{ on: acquired, after: 20ms, chance: 20%, limit: 5, session-expire: holder }",
		}, func(f scenarios.Fault) nemesis.Fault { return nemesis.NewSessionExpire(target(f.Args)) }},
		{"latency", scenarios.FaultName{
			About: "messages arrive later, each way or one way", Args: []string{"of", "delay", "direction"}, Required: []string{"of", "delay"}, Targets: orStore(anyone),
			Network: true, NeedsFor: true, Example: "{ at: 5s, for: 10s, latency: { of: n1, delay: 50ms..150ms } }",
		}, func(f scenarios.Fault) nemesis.Fault {
			mean, spread := (f.Args.Latency.Min+f.Args.Latency.Max)/2, (f.Args.Latency.Max-f.Args.Latency.Min)/2
			return nemesis.NewLatency(nemesis.LatencySpec{Of: target(f.Args), Direction: f.Args.Direction, Latency: mean, Jitter: spread})
		}},
		{"message", scenarios.FaultName{
			About: "single messages of clients: a reply that is dropped, a command that is late, a write held back and delivered later, an event that is lost, or a reset just before one; on etcd, whose connections carry many calls at once, what is held back holds back the whole connection, and replies can't be dropped",
			Args:  []string{"of", "drop", "delay", "hold", "reset", "match", "nth", "by"}, Required: []string{"of"}, Targets: anyone,
			Network: true, TakesFor: true, Example: "{ on: waiting, limit: 5, message: { of: waiter, drop: reply, match: EVALSHA, nth: 1 } }",
		}, message},
		{"partition", scenarios.FaultName{
			About: "messages between the sides, or between a target and everybody else, are kept from going; shape: ring leaves each node a majority of its own", Args: []string{"of", "direction", "mode", "shape"}, Required: []string{"of"}, Targets: orStore(anyone),
			Groups: true, Network: true, NeedsFor: true, Example: "{ at: 4s, for: 6s, partition: [[n1, n2], [n3, n4, n5, clients]] }",
		}, func(f scenarios.Fault) nemesis.Fault {
			return nemesis.NewPartition(nemesis.PartitionSpec{Groups: f.Args.Groups, Of: target(f.Args), Direction: f.Args.Direction, Mode: mode(f.Args.Mode), Shape: f.Args.Shape})
		}},
		{"rate", scenarios.FaultName{
			About: "links carry so many bytes a second at most, each way or one way", Args: []string{"of", "bandwidth", "direction"}, Required: []string{"of", "bandwidth"}, Targets: orStore(anyone),
			Network: true, NeedsFor: true, Example: "{ at: 5s, for: 10s, rate: { of: n1, bandwidth: 10kB/s } }",
		}, func(f scenarios.Fault) nemesis.Fault {
			return nemesis.NewRate(nemesis.RateSpec{Of: target(f.Args), Direction: f.Args.Direction, Bandwidth: f.Args.Bandwidth})
		}},
		{"reset", scenarios.FaultName{
			About: "connections are reset, new ones refused for 20 ms, or longer", Args: []string{"of"}, Required: []string{"of"}, Targets: orStore(anyone),
			Network: true, TakesFor: true, Example: "{ on: extending, limit: 5, reset: holder }",
		}, func(f scenarios.Fault) nemesis.Fault { return nemesis.NewReset(target(f.Args)) }},
	}
}

func message(f scenarios.Fault) nemesis.Fault {
	m := f.Args.Message
	kinds := map[string]wire.Kind{"request": wire.Request, "reply": wire.Reply, "push": wire.Push}
	return nemesis.NewMessage(nemesis.MessageSpec{Of: target(f.Args), Rule: cluster.MessageRule{Deed: wire.Deed(m.Deed), Kind: kinds[m.What], Match: m.Match, Nth: m.Nth, By: m.By}})
}

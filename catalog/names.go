package catalog

import (
	"time"

	"github.com/locktest/locktest/checker"
	"github.com/locktest/locktest/cluster/process"
	"github.com/locktest/locktest/history"
	"github.com/locktest/locktest/runner"
	"github.com/locktest/locktest/scenarios"
	"github.com/locktest/locktest/workloads"
)

// Names is the catalogue as scenario files are judged by it.
func Names() scenarios.Names {
	return scenarios.Names{
		Locks: lockNames(), Workloads: workloadNames(), Faults: faultNames(), Properties: propertyNames(), Metrics: metricNames(),
		Clusters: map[string]scenarios.ClusterName{
			"auto":     {About: "processes where the server's program is found, else embedded"},
			"docker":   {About: "the real servers in containers of a Docker engine on this machine", Keys: []string{"image", "version"}},
			"embedded": {About: "servers that are a part of locktest, nothing to install: etcd is the real one, Redis is not"},
			"external": {About: "servers that stand already, at endpoints", Keys: []string{"endpoints", "allow-faults", "user", "password-env", "password-file", "tls", "tls-ca", "tls-cert", "tls-key"}},
			"process":  {About: "the real servers as processes on this machine"},
		},
		Resources: map[string]string{
			history.IgnoresToken:       "takes every write",
			history.ChecksToken:        "refuses a read or a write whose token is lower than one that it has seen; one without a token passes",
			history.ChecksVersion:      "takes a write only on top of the version that is there",
			workloads.ChecksOnWrites:   "wrong on purpose: as checks-token, but reads don't count",
			workloads.ChecksInTwoSteps: "wrong on purpose: as checks-token, but the write comes some time after the check",
			workloads.IgnoresRefusal:   "wrong on purpose: as checks-token, but the client takes a refused write for done",
		},
		Stores: storeNames(),
	}
}

func lockNames() map[string]scenarios.LockName {
	names := map[string]scenarios.LockName{}
	for _, l := range Locks() {
		n := scenarios.LockName{About: l.About, Memory: l.Memory(), SharedOnly: l.Memory(), Extends: l.Extends, Nodes: l.Nodes, MinNodes: l.Min, MaxNodes: l.Max,
			Options: map[string]scenarios.OptionName{}, ClientOptions: map[string]scenarios.OptionName{}, ServerOptions: map[string]scenarios.OptionName{}}
		for _, o := range l.Options {
			n.Options[o], n.ClientOptions[o] = scenarios.OptionName{}, scenarios.OptionName{}
		}
		if p, err := l.New(nil); err == nil {
			c := p.Claims(time.Second)
			n.Tokens, n.Leases = c.Tokens != history.NoTokens, c.Expiry == history.Lease
			n.KeptAlive = runner.KeptAlive(c)
			n.SharedMode, n.Permits, n.Reentrant = c.Shared, c.Permits > 0, c.Reentry > 0
		}
		if l.Service != nil {
			for option, values := range l.Service().Options {
				n.ServerOptions[option] = scenarios.OptionName{Values: values}
			}
			n.ServerOptions[process.BasePort] = scenarios.OptionName{About: "n1 listens on this port, n2 on the next, …; free ports unless said otherwise"}
		}
		names[l.Name] = n
	}
	return names
}

func workloadNames() map[string]scenarios.WorkloadName {
	about := map[string]string{
		"mutex":     "hold the lock and do nothing else",
		"counter":   "read n, think, write n+1 while holding",
		"register":  "read, think, write a value of one's own while holding",
		"log":       "append several entries while holding, between which no other client's may stand",
		"semaphore": "hold some permits, now and then release twice; at the end take them all, and one more",
		"rwlock":    "in shared mode read, in exclusive mode read, think and write",
		"reentrant": "take the lock again while holding it, and write in the innermost grant",
		"handover":  "hold, and ask again at once: everybody always waits",
		"election":  "a leader's term: write again and again until it ends",
		"nested":    "take a second lock while holding the first",
		"once":      "run jobs, each of which is to be run once, and mark them",
	}
	names := map[string]scenarios.WorkloadName{}
	for _, w := range workloads.All() {
		names[w.Name()] = scenarios.WorkloadName{About: about[w.Name()]}
	}
	return names
}

func propertyNames() map[string]scenarios.PropertyName {
	about := map[string]scenarios.PropertyName{
		checker.MutualExclusion: {About: "no two clients are entitled to act at the same time", Kinds: []string{checker.DoubleGrant, checker.StaleHolder}},
		checker.ResourceSafety:  {About: "no stale write lands and no update is lost at the guarded resource"},
		checker.Fencing:         {About: "tokens are unique and follow the order of grants", NeedsTokens: true},
		checker.Ownership:       {About: "only the owner releases, and a holder doesn't lose the lock before its lease ends"},
		checker.Permits:         {About: "a semaphore never gives more permits than it has"},
		checker.ReadWrite:       {About: "a writer shares the lock with nobody"},
		checker.Reentrancy:      {About: "a lock that its holder may take again is free once it was released as often"},
		checker.Liveness:        {About: "the lock is to be had again after crashes and faults, and is refused only while it is held", Bounds: []string{"recover-within"}},
		checker.Availability:    {About: "share of attempts that end in a grant or a definite refusal", Bounds: []string{"min", "during"}},
		checker.Coverage:        {About: "the run tested what it was meant to test"},
		checker.Hygiene:         {About: "every grant is given back, within its lease if no fault was in the way; nothing is left on the servers"},
		checker.Fairness:        {About: "no client waits while others overtake it"},
	}
	names := map[string]scenarios.PropertyName{}
	for _, c := range checker.All() {
		names[c.Name()] = about[c.Name()]
	}
	return names
}

func metricNames() map[string]scenarios.MetricName {
	names := map[string]scenarios.MetricName{
		"availability": {About: "share of attempts that end in a grant or a definite refusal", Share: true},
	}
	for metric, about := range map[string]string{"acquire": "from an acquire's call to its grant", "hold": "from a grant to the call of its release", "handover": "from a release's answer to the next grant, with somebody waiting"} {
		for _, q := range []string{"p50", "p95", "p99", "max"} {
			names[metric+"."+q] = scenarios.MetricName{About: about}
		}
	}
	return names
}

package scenarios

// testNames is a catalogue for tests: every property that a name can have is in it once.
func testNames() Names {
	redis := map[string]OptionName{"persistence": {Values: []string{"none", "aof-everysec", "aof-always"}}}
	return Names{
		Locks: map[string]LockName{
			"memory/lease":  {Memory: true, SharedOnly: true, Tokens: true, Leases: true, Extends: true},
			"memory/mutex":  {Memory: true, SharedOnly: true, Tokens: true},
			"redis/single":  {Tokens: true, Leases: true, Extends: true, Nodes: 1, MinNodes: 1, MaxNodes: 1, ServerOptions: redis, Options: map[string]OptionName{"retry": {}, "script": {Values: []string{"eval", "evalsha"}}}},
			"redis/redlock": {Leases: true, Nodes: 5, MinNodes: 3, MaxNodes: 9, ServerOptions: redis, Options: map[string]OptionName{"quorum": {}}, ClientOptions: map[string]OptionName{"quorum": {}}},
			"test/all":      {Tokens: true, Leases: true, KeptAlive: true, Extends: true, SharedMode: true, Permits: true, Command: true, Nodes: 3},
		},
		Workloads: map[string]WorkloadName{"mutex": {}, "counter": {}, "register": {}, "rwlock": {}, "nested": {}, "once": {}},
		Faults: map[string]FaultName{
			"pause":     {Args: []string{"of", "only"}, Required: []string{"of"}, Targets: Targets(), Process: true, Shared: true, NeedsFor: true, StopsTime: true},
			"kill":      {Args: []string{"of", "restart"}, Required: []string{"of"}, Targets: Targets(), Process: true, Shared: true, TakesFor: true},
			"clock":     {Args: []string{"of", "jump", "rate", "freeze", "clock"}, Required: []string{"of"}, Targets: Targets(), Process: true, NeedsFor: true},
			"partition": {Args: []string{"of", "direction", "mode", "shape"}, Required: []string{"of"}, Targets: []string{"n1", "one", "minority", "majority", "all", "nodes", "c1", "holder", "clients"}, Groups: true, Network: true, NeedsFor: true},
			"latency":   {Args: []string{"of", "delay"}, Required: []string{"of", "delay"}, Targets: []string{"n1", "nodes", "c1", "holder"}, Network: true, NeedsFor: true},
			"rate":      {Args: []string{"of", "bandwidth", "direction"}, Required: []string{"of", "bandwidth"}, Targets: []string{"n1", "nodes", "c1", "holder"}, Network: true, NeedsFor: true},
			"message":   {Args: append([]string{"of"}, messageKeys()...), Required: []string{"of"}, Targets: []string{"n1", "nodes", "c1", "holder", "waiter"}, Network: true, TakesFor: true},
			"cancel":    {Args: []string{"of"}, Required: []string{"of"}, Targets: []string{"c1", "holder", "waiter", "clients"}, Process: true, Shared: true},
			"reset":     {Args: []string{"of"}, Required: []string{"of"}, Targets: []string{"n1", "nodes", "c1", "holder", "clients"}, Network: true, TakesFor: true},
			"random":    {Args: []string{"of", "on"}, Required: []string{"of"}, Kinds: true, NeedsFor: true},
			"exec":      {Args: []string{"of", "inject", "heal", "limit"}, Required: []string{"inject"}, Targets: Targets(), TakesFor: true},
			"flush":     {Args: []string{"of"}, Targets: []string{"n1", "all"}},
			"failover":  {Args: []string{"of", "to"}, Targets: []string{"n1", "replica"}, Process: true, TakesFor: true},
		},
		Properties: map[string]PropertyName{
			"mutual-exclusion": {Kinds: []string{"double-grant", "stale-holder"}},
			"resource-safety":  {}, "ownership": {},
			"fencing":      {NeedsTokens: true},
			"liveness":     {Bounds: []string{"recover-within"}},
			"availability": {Bounds: []string{"min", "during"}},
		},
		Clusters:  map[string]ClusterName{"auto": {}, "embedded": {}, "process": {}, "docker": {Keys: []string{"image", "version"}}, "external": {Keys: append([]string{"endpoints", "allow-faults"}, accessKeys()...)}},
		Resources: map[string]string{"ignores-token": "", "checks-token": ""},
		Stores:    map[string]string{"harness": ""},
		Metrics:   map[string]MetricName{"acquire.p99": {}, "availability": {Share: true}, "throughput": {Rate: true}},
	}
}

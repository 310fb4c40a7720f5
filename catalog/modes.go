package catalog

// Mode is a mistake that is not a lock's: how it is used, or how the guarded resource looks at tokens. A scenario of that name
// under broken/ shows it with a lock that is right.
type Mode struct {
	Name   string
	About  string
	Caught string // the property that catches it
	Key    string // what to set in the scenario …
	Right  string // … and to what, for the right way
}

// Modes returns all of them, in order of names.
func Modes() []Mode {
	return []Mode{
		{"broken/check-outside", "what is to be done is looked up before the lock is asked for, and not again inside", "resource-safety", "workload.read", "inside"},
		{"broken/nested-opposite", "two locks are taken in any order", "liveness", "workload.order", "sorted"},
		{"broken/read-before-lock", "the version is read before the lock is asked for", "resource-safety", "workload.read", "inside"},
		{"broken/redlock-mixed-quorum", "clients of one lock need majorities of different sizes", "mutual-exclusion", "clients.options", "{}"},
		{"broken/refusal-ignored", "the resource refuses a stale write, and the client takes it for done", "resource-safety", "workload.resource", "checks-token"},
		{"broken/token-checked-in-two-steps", "the resource checks the token, and writes some time later", "resource-safety", "workload.resource", "checks-token"},
		{"broken/token-checked-in-two-steps-etcd", "the client checks the token in a etcd, and writes some time later", "resource-safety", "workload.resource", "checks-token"},
		{"broken/token-checked-in-two-steps-postgres", "the client checks the token in a PostgreSQL, and writes some time later", "resource-safety", "workload.resource", "checks-token"},
		{"broken/token-checked-in-two-steps-redis", "the client checks the token in a Redis, and writes some time later", "resource-safety", "workload.resource", "checks-token"},
		{"broken/token-checked-in-two-steps-zookeeper", "the client checks the token in a ZooKeeper, and writes some time later", "resource-safety", "workload.resource", "checks-token"},
		{"broken/token-checked-on-writes", "the resource checks the token of writes alone", "resource-safety", "workload.resource", "checks-token"},
	}
}

// Package advise leads from a few answers to a lock: a provider, a strategy, a lease's length, and whether tokens have to be
// checked. It knows no server and runs nothing; what it says was measured is in docs/results.md.
package advise

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
)

// Answers are what has to be known. Durations of zero, and a drift of zero, are not known.
type Answers struct {
	Have       []string // of Stores: what is there already
	Instances  int      // that compete; 1: one process
	Section    time.Duration
	Pause      time.Duration // the longest that a process is known to stand still
	Steady     bool          // no pause is known to happen: Pause is zero because it was said
	Drift      float64       // by which clocks' rates may differ: 0.01 is one in a hundred
	Writes     bool          // the section writes to shared storage
	Conditions bool          // that storage can compare a version, or a token, when it writes
	Blind      bool          // it is known that it can't; neither: not known
	Exclusive  bool          // two at once would be wrong, not only wasteful
	Failover   bool          // the lock has to survive the loss of a server
	RedisNodes int           // independent ones; 0: one
	Pooled     bool          // PostgreSQL is reached through a pooler in transaction mode
	ReadHeavy  bool          // most sections only read
	Retried    bool          // the work is tried again after an unknown outcome
	Nested     bool          // sections take another lock inside
}

// Stores are what Answers.Have may name. Of managed services alone nothing is advised.
func Stores() []string { return []string{"etcd", "zookeeper", "postgres", "redis", "managed"} }

// Choice is the advice.
type Choice struct {
	Provider string        `json:"provider"`
	Strategy string        `json:"strategy"`
	Lock     string        `json:"lock"` // PROVIDER/STRATEGY, as a scenario has it
	TTL      time.Duration `json:"ttl_ns"`
	Fencing  string        `json:"fencing"`  // required, recommended, none
	Resource string        `json:"resource"` // what the guarded resource has to do: workload.resource of a scenario
	Why      []string      `json:"why"`
	Lacks    []string      `json:"does_not_give"`
	Warnings []string      `json:"warnings,omitempty"`
	Scenario string        `json:"scenario"` // that tests it
}

// Whether tokens have to be checked.
const (
	Required    = "required"
	Recommended = "recommended"
	None        = "none"
)

// Choose walks through the decision trees.
func Choose(a Answers) (Choice, error) {
	if err := a.check(); err != nil {
		return Choice{}, err
	}
	c := a.provider()
	c.Lock = c.Provider + "/" + c.Strategy
	c.fence(a)
	c.ttl(a)
	c.limits(a)
	c.warn(a)
	c.Scenario = "matrix/holder-paused"
	if c.Resource == checksToken {
		c.Scenario = "matrix/holder-paused-checked"
	}
	if c.Resource == checksVersion {
		c.Scenario = "matrix/contention"
	}
	return c, nil
}

const (
	ignoresToken  = "ignores-token"
	checksToken   = "checks-token"
	checksVersion = "checks-version"
)

func (a Answers) check() error {
	for _, h := range a.Have {
		if !slices.Contains(Stores(), h) {
			return fmt.Errorf("%q is not one of %v", h, Stores())
		}
	}
	switch {
	case a.Instances < 1:
		return errors.New("how many instances compete? at least 1")
	case a.Section < 0 || a.Pause < 0:
		return errors.New("durations can't be negative")
	case a.Section > longest || a.Pause > longest:
		return fmt.Errorf("%v is too long: a section and a pause take %.0fh at most, since the lease outlasts both, and a dead holder keeps everybody out as long", max(a.Section, a.Pause), longest.Hours())
	case !(a.Drift >= 0 && a.Drift < 1): // which is not a number either
		return fmt.Errorf("a drift is a share from 0 to below 1, such as %v, and not %v", Drift, a.Drift)
	case a.RedisNodes < 0:
		return errors.New("how many Redis servers are there? at least 1")
	case len(a.Have) == 0 && a.Instances > 1:
		return fmt.Errorf("nothing to keep a lock in: one of %v has to be there", Stores())
	case a.Instances > 1 && slices.Equal(a.Have, []string{"managed"}):
		return errors.New(managed)
	}
	return nil
}

// longest is the longest section and pause for which a lock is advised.
const longest = 24 * time.Hour

// managed is why there is no advice of a lock that somebody else runs.
const managed = "locks of managed services were not measured: judge the log of yours by locktest check LOG --expiry lease --ttl TTL " +
	"(docs/history.md), or make it a lock of your own under locks/ (docs/architecture.md); a managed Redis or PostgreSQL is redis or postgres here"

func (a Answers) has(store string) bool { return slices.Contains(a.Have, store) }

// provider is the first tree: what there is, and what it has to stand.
func (a Answers) provider() Choice {
	switch {
	case a.Instances == 1:
		return because("memory", "mutex", "one process needs no distributed lock")
	case a.Writes && a.Conditions && !a.ReadHeavy && a.has("postgres"):
		return because("postgres", "optimistic", "the storage compares versions: only one of two writers of a version succeeds, whatever clocks and pauses do, and a lock would add nothing to that")
	case a.Writes && a.Conditions && !a.ReadHeavy && a.has("etcd"):
		return because("etcd", "cas", "etcd compares revisions in a transaction: only one of two writers of a revision succeeds, whatever clocks and pauses do")
	case a.ReadHeavy:
		return a.readers()
	case a.Exclusive || a.Writes || a.Failover && !(a.has("redis") && a.RedisNodes >= majority):
		return a.safest()
	case a.Failover:
		return because("redis", "redlock", "no write depends on it, and a majority of independent servers outlives any one of them")
	}
	return a.cheapest()
}

// majority is of how many servers the loss of one leaves a majority.
const majority = 3

func because(provider, strategy string, why ...string) Choice {
	return Choice{Provider: provider, Strategy: strategy, Why: why}
}

// readers is for sections that mostly read.
func (a Answers) readers() Choice {
	const why = "readers share it, and a writer has it alone"
	switch {
	case a.has("etcd"):
		return because("etcd", "rwlock", why, "a majority of members has to agree, so that the loss of one changes nothing")
	case a.has("zookeeper"):
		return because("zookeeper", "rwlock", why, "a majority of servers has to agree, so that the loss of one changes nothing")
	case a.has("postgres") && !a.Pooled:
		return because("postgres", "advisory-shared", why, "it is where the data is")
	case a.has("redis"):
		return because("redis", "rwlock", why)
	}
	return because("postgres", "lease", "behind a pooler in transaction mode a session's lock is another's: a row with a lease isn't", "it has no shared mode: readers wait for each other")
}

// safest is for what must not go wrong.
func (a Answers) safest() Choice {
	switch {
	case a.has("etcd"):
		return because("etcd", "lease", "a majority of members has to agree to each grant, so that no failover loses one", "each grant has a token that rises")
	case a.has("zookeeper"):
		return because("zookeeper", "ephemeral", "a majority of servers has to agree to each grant, so that no failover loses one", "each grant has a token that rises")
	case a.has("postgres"):
		return because("postgres", "lease", "one conditional statement grants, by one server's clock", "each grant has a token that rises, and the same transaction can check it where the data is")
	}
	c := because("redis", "single", "it is what there is: one server decides, and each grant has a token that rises while the server keeps its data")
	if a.RedisNodes >= majority {
		c.Why = append(c.Why, fmt.Sprintf("Redlock over the %d servers gives no token that the storage could check, and grants twice when clocks jump: so it isn't chosen for writes, nor where two at once would be wrong", a.RedisNodes))
	}
	return c
}

// cheapest is for work that may be done twice, and had better not be.
func (a Answers) cheapest() Choice {
	switch {
	case a.has("redis"):
		return because("redis", "single", "two at once would be a waste and no harm, and this is the cheapest way to make that rare")
	case a.has("postgres") && !a.Pooled:
		return because("postgres", "advisory", "it is there already, and a lock that ends with its connection needs no lease")
	case a.has("postgres"):
		return because("postgres", "lease", "behind a pooler in transaction mode a session's lock is another's: a row with a lease isn't")
	}
	return a.safest()
}

// fence is the second tree: whether tokens have to be checked.
func (c *Choice) fence(a Answers) {
	c.Fencing, c.Resource = None, ignoresToken
	tokens := !slices.Contains([]string{"redis/redlock", "postgres/advisory", "postgres/advisory-shared", "memory/mutex"}, c.Lock)
	switch {
	case c.Lock == "postgres/optimistic" || c.Lock == "etcd/cas":
		c.Resource = checksVersion
	case !a.Writes || a.Instances == 1:
	case a.Conditions:
		c.Fencing, c.Resource = Recommended, checksToken
	case a.Blind:
		c.Fencing = Required
		c.Warnings = append(c.Warnings, blind)
	default:
		c.Fencing, c.Resource = Required, checksToken
	}
	if c.Resource == checksToken && !tokens {
		c.Warnings = append(c.Warnings, fmt.Sprintf("%s gives no fencing token: compare a version at the storage, or use a lease with a token", c.Lock))
	}
}

// blind is told where the storage was said to compare nothing.
const blind = "the storage can't compare, so no token can be checked where the data is, and what a holder writes after a pause lands: " +
	"put something in front of it that compares (a row with a version, a proxy that knows the highest token), or make the write idempotent"

// least is the shortest lease that a provider keeps: etcd counts seconds, ZooKeeper two of its usual ticks of 2 s.
func (c *Choice) least() time.Duration {
	switch c.Provider {
	case "etcd":
		return time.Second
	case "zookeeper":
		return 4 * time.Second
	}
	return 100 * time.Millisecond
}

// withConnection says that the lock ends with its connection and has no lease.
func (c *Choice) withConnection() bool {
	return c.Lock == "postgres/advisory" || c.Lock == "postgres/advisory-shared"
}

// ttl has to outlast the section and the longest pause, by clocks that may run at different rates, with a reserve of half.
func (c *Choice) ttl(a Answers) {
	if c.Lock == "memory/mutex" || c.Resource == checksVersion || c.withConnection() {
		return
	}
	section := a.Section
	if section == 0 {
		section = time.Second
	}
	d := time.Duration(1.5 * (1 + a.Drift) * float64(section+a.Pause))
	step := 100 * time.Millisecond
	if c.Provider == "etcd" || d > 10*time.Second {
		step = time.Second
	}
	c.TTL = max(c.least(), time.Duration(math.Ceil(float64(d)/float64(step)))*step)
}

// limits are what the choice does not give.
func (c *Choice) limits(a Answers) {
	lease := "a holder that stands still for longer than its lease goes on as if it held: only a check at the resource stops what it writes"
	switch c.Lock {
	case "memory/mutex":
		c.Lacks = append(c.Lacks, "it keeps no other process out, not on the same machine either")
	case "postgres/optimistic", "etcd/cas":
		c.Lacks = append(c.Lacks, "nobody is kept from beginning: work that loses the race is done in vain, and effects outside the storage happen twice")
	case "redis/redlock":
		c.Lacks = append(c.Lacks, lease, "it gives no token", "a clock that jumps on a majority of its servers, or a majority that restarts without data, grants twice")
	case "redis/single", "redis/rwlock":
		c.Lacks = append(c.Lacks, lease, "a server that restarts without its data, or fails over to a replica, grants twice, and counts tokens from where the replica was; WAIT makes that rarer and does not prevent it",
			"a server's clock that jumps ahead ends leases early")
	case "postgres/advisory", "postgres/advisory-shared":
		c.Lacks = append(c.Lacks, "no replica knows of it: after a promotion both servers grant it", "a client that vanishes without a word keeps it until the server's keep-alive finds out")
	case "postgres/lease":
		c.Lacks = append(c.Lacks, lease, "a failover to a replica that lags behind loses the last grants, and their tokens")
	default:
		c.Lacks = append(c.Lacks, lease, "without a majority of servers nobody is granted anything")
	}
	if a.Failover && len(a.Have) > 0 && (c.Provider == "postgres" || c.Lock == "redis/single" || c.Lock == "redis/rwlock") {
		c.Warnings = append(c.Warnings, "a failover was to be survived, and this lock does not survive one in all cases: see what it does not give")
	}
}

// warn looks for the known ways to go wrong.
func (c *Choice) warn(a Answers) {
	add := func(when bool, text string) {
		if when {
			c.Warnings = append(c.Warnings, text)
		}
	}
	add(c.TTL > 0 && a.Section > c.TTL/2, fmt.Sprintf("the section takes more than half of the lease (%v of %v): extend it on the way, or do less inside", a.Section, c.TTL))
	add(a.Section > time.Minute, "a section of more than a minute is no critical section: take the lock for a step, and keep the state in the data")
	add(a.Nested, "locks within locks wait for each other: take them in one order everywhere, or take one lock for both")
	add(a.Retried && !a.Conditions, "work that is tried again can be done twice under a lock that is right: it needs a key by which the storage knows it")
	add(c.withConnection(), "it has no lease: a holder that hangs, and whose connection lives, keeps everybody else out")
	add(a.ReadHeavy && c.Lock == "postgres/lease", "most sections only read, and one lock for reads and writes makes them wait for each other")
	add((c.Lock == "redis/single" || c.Lock == "redis/rwlock") && (a.Exclusive || a.Writes), "a single Redis server decides, however many there are, and is one failure away from two holders")
	add(a.Section == 0 && c.TTL > 0, "how long the section takes was not said: the lease was counted for one second; measure the longest of a thousand")
	add(c.TTL > time.Minute, fmt.Sprintf("a holder that dies keeps everybody out until its lease of %v ends: shorten what the lease was counted from, or take a short lease, extend it on the way, and check tokens", c.TTL))
	add(a.Pause == 0 && !a.Steady && c.TTL > 0, "how long a process may stand still was not said: a garbage collection or a moved machine can outlast this lease")
}

package advise

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

// Every leaf of the trees.
func TestChoose(t *testing.T) {
	all := []string{"etcd", "zookeeper", "postgres", "redis"}
	for name, c := range map[string]struct {
		a       Answers
		lock    string
		fencing string
	}{
		"one process":                         {Answers{Instances: 1}, "memory/mutex", None},
		"versions in PostgreSQL":              {Answers{Instances: 3, Have: []string{"postgres"}, Writes: true, Conditions: true}, "postgres/optimistic", None},
		"revisions in etcd":                   {Answers{Instances: 3, Have: []string{"etcd", "redis"}, Writes: true, Conditions: true}, "etcd/cas", None},
		"conditions, but in neither":          {Answers{Instances: 3, Have: []string{"redis"}, Writes: true, Conditions: true}, "redis/single", Recommended},
		"exclusive, with everything":          {Answers{Instances: 3, Have: all, Exclusive: true}, "etcd/lease", None},
		"exclusive, with ZooKeeper":           {Answers{Instances: 3, Have: []string{"zookeeper", "redis"}, Exclusive: true}, "zookeeper/ephemeral", None},
		"a write, with PostgreSQL":            {Answers{Instances: 3, Have: []string{"postgres", "redis"}, Writes: true}, "postgres/lease", Required},
		"a write, with Redis alone":           {Answers{Instances: 3, Have: []string{"redis"}, Writes: true}, "redis/single", Required},
		"a write, with five Redis servers":    {Answers{Instances: 3, Have: []string{"redis"}, Writes: true, Failover: true, RedisNodes: 5}, "redis/single", Required},
		"failover, five Redis servers":        {Answers{Instances: 3, Have: []string{"redis"}, Failover: true, RedisNodes: 5}, "redis/redlock", None},
		"failover, one Redis server":          {Answers{Instances: 3, Have: []string{"redis"}, Failover: true}, "redis/single", None},
		"failover, one Redis server and etcd": {Answers{Instances: 3, Have: []string{"redis", "etcd"}, Failover: true}, "etcd/lease", None},
		"cheap, with Redis":                   {Answers{Instances: 3, Have: all}, "redis/single", None},
		"cheap, with PostgreSQL":              {Answers{Instances: 3, Have: []string{"postgres"}}, "postgres/advisory", None},
		"cheap, behind a pooler":              {Answers{Instances: 3, Have: []string{"postgres"}, Pooled: true}, "postgres/lease", None},
		"cheap, with etcd":                    {Answers{Instances: 3, Have: []string{"etcd"}}, "etcd/lease", None},
		"readers, with etcd":                  {Answers{Instances: 3, Have: all, ReadHeavy: true}, "etcd/rwlock", None},
		"readers, with ZooKeeper":             {Answers{Instances: 3, Have: []string{"zookeeper", "redis"}, ReadHeavy: true}, "zookeeper/rwlock", None},
		"readers, with PostgreSQL":            {Answers{Instances: 3, Have: []string{"postgres"}, ReadHeavy: true}, "postgres/advisory-shared", None},
		"readers, with Redis":                 {Answers{Instances: 3, Have: []string{"redis"}, ReadHeavy: true, Writes: true}, "redis/rwlock", Required},
		"readers, behind a pooler":            {Answers{Instances: 3, Have: []string{"postgres"}, ReadHeavy: true, Pooled: true}, "postgres/lease", None},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Choose(c.a)
			if err != nil {
				t.Fatal(err)
			}
			if got.Lock != c.lock || got.Fencing != c.fencing {
				t.Errorf("%s, fencing %s; want %s, %s", got.Lock, got.Fencing, c.lock, c.fencing)
			}
			if len(got.Why) == 0 || len(got.Lacks) == 0 || got.Scenario == "" {
				t.Errorf("not told: %+v", got)
			}
			for _, text := range slices.Concat(got.Why, got.Lacks, got.Warnings) {
				if strings.Contains(text, "WAIT") && !strings.Contains(text, "does not prevent") {
					t.Errorf("WAIT is praised: %s", text)
				}
			}
		})
	}
}

// Storage that is known to compare nothing can't check a token, whatever the lock gives.
func TestBlind(t *testing.T) {
	for _, have := range []string{"etcd", "zookeeper", "postgres", "redis"} {
		a := Answers{Instances: 3, Have: []string{have}, Writes: true}
		if c, err := Choose(a); err != nil || c.Resource != "checks-token" || slices.Contains(c.Warnings, blind) {
			t.Errorf("%s, not known: %+v, %v", have, c, err)
		}
		a.Blind = true
		if c, err := Choose(a); err != nil || c.Fencing != Required || c.Resource != "ignores-token" || c.Scenario != "matrix/holder-paused" || !slices.Contains(c.Warnings, blind) {
			t.Errorf("%s: %+v, %v", have, c, err)
		}
	}
}

// Where Redlock could be meant, it is said why it isn't chosen, and nobody is told of one server who has five.
func TestWhyNotRedlock(t *testing.T) {
	a := Answers{Instances: 3, Have: []string{"redis"}, Writes: true, Exclusive: true, Failover: true, RedisNodes: 5}
	c, err := Choose(a)
	if err != nil || c.Lock != "redis/single" || !strings.Contains(strings.Join(c.Why, "\n"), "Redlock over the 5 servers gives no token that the storage could check") {
		t.Errorf("%+v, %v", c, err)
	}
	if slices.ContainsFunc(c.Warnings, func(w string) bool { return strings.HasPrefix(w, "one Redis server") }) {
		t.Errorf("%q", c.Warnings)
	}
	a.RedisNodes = 1
	if c, err := Choose(a); err != nil || strings.Contains(strings.Join(c.Why, "\n"), "Redlock") {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestRefused(t *testing.T) {
	for name, a := range map[string]Answers{
		"no instance":           {},
		"nothing there":         {Instances: 2},
		"managed alone":         {Instances: 2, Have: []string{"managed"}},
		"unknown store":         {Instances: 2, Have: []string{"floppy"}},
		"negative pause":        {Instances: 2, Have: []string{"redis"}, Pause: -1},
		"a section of two days": {Instances: 2, Have: []string{"redis"}, Section: 48 * time.Hour},
		"a pause of weeks":      {Instances: 2, Have: []string{"redis"}, Pause: 1000 * time.Hour},
		"a drift of NaN":        {Instances: 2, Have: []string{"redis"}, Drift: math.NaN()},
		"no Redis server":       {Instances: 2, Have: []string{"redis"}, RedisNodes: -1},
		"a drift of one":        {Instances: 2, Have: []string{"redis"}, Drift: 1},
	} {
		if _, err := Choose(a); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}

func TestTTL(t *testing.T) {
	for name, c := range map[string]struct {
		a    Answers
		want time.Duration
	}{
		"section and pause":      {Answers{Instances: 2, Have: []string{"redis"}, Section: 200 * time.Millisecond, Pause: 300 * time.Millisecond, Drift: 0.01}, 800 * time.Millisecond},
		"whole seconds of etcd":  {Answers{Instances: 2, Have: []string{"etcd"}, Section: 200 * time.Millisecond, Pause: 500 * time.Millisecond}, 2 * time.Second},
		"two ticks of ZooKeeper": {Answers{Instances: 2, Have: []string{"zookeeper"}, Section: 100 * time.Millisecond}, 4 * time.Second},
		"not said":               {Answers{Instances: 2, Have: []string{"redis"}}, 1500 * time.Millisecond},
		"one process has none":   {Answers{Instances: 1}, 0},
		"nor has a connection":   {Answers{Instances: 2, Have: []string{"postgres"}}, 0},
	} {
		got, err := Choose(c.a)
		if err != nil || got.TTL != c.want {
			t.Errorf("%s: %v, %v; want %v", name, got.TTL, err, c.want)
		}
	}
}

// Each known way to go wrong is warned of.
func TestWarnings(t *testing.T) {
	redis := Answers{Instances: 2, Have: []string{"redis"}, Section: 100 * time.Millisecond, Pause: time.Second}
	with := func(change func(*Answers)) Answers { a := redis; change(&a); return a }
	for want, a := range map[string]Answers{
		"more than half of the lease":  with(func(a *Answers) { a.Section, a.Pause = time.Second, 10*time.Millisecond }),
		"no critical section":          with(func(a *Answers) { a.Section = 2 * time.Minute }),
		"locks within locks":           with(func(a *Answers) { a.Nested = true }),
		"can be done twice":            with(func(a *Answers) { a.Retried = true }),
		"one failure away":             with(func(a *Answers) { a.Exclusive = true }),
		"away from two holders":        with(func(a *Answers) { a.Writes = true }),
		"it has no lease":              with(func(a *Answers) { a.Have = []string{"postgres"} }),
		"wait for each other":          with(func(a *Answers) { a.Have, a.Pooled, a.ReadHeavy = []string{"postgres"}, true, true }),
		"does not survive one":         with(func(a *Answers) { a.Failover = true }),
		"lease of 2m32s ends":          with(func(a *Answers) { a.Pause = 101 * time.Second }),
		"section takes was not said":   with(func(a *Answers) { a.Section = 0 }),
		"may stand still was not said": with(func(a *Answers) { a.Pause = 0 }),
	} {
		c, err := Choose(a)
		if err != nil || !slices.ContainsFunc(c.Warnings, func(w string) bool { return strings.Contains(w, want) }) {
			t.Errorf("no warning %q in %q, %v", want, c.Warnings, err)
		}
	}
	if c, err := Choose(with(func(a *Answers) { a.Pause, a.Steady = 0, true })); err != nil || len(c.Warnings) > 0 {
		t.Errorf("no pause is known: %q, %v", c.Warnings, err)
	}
	c, err := Choose(Answers{Instances: 2, Have: []string{"postgres"}, ReadHeavy: true, Writes: true})
	if err != nil || !slices.ContainsFunc(c.Warnings, func(w string) bool { return strings.Contains(w, "gives no fencing token") }) {
		t.Errorf("a lock without tokens for a write: %q, %v", c.Warnings, err)
	}
}

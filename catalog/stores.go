package catalog

import (
	"errors"
	"fmt"
	"strings"

	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/cluster/process"
	pgserver "github.com/locktest/locktest/locks/postgres"
	redisserver "github.com/locktest/locktest/locks/redis"
	zkserver "github.com/locktest/locktest/locks/zookeeper"
	"github.com/locktest/locktest/runner"
	"github.com/locktest/locktest/scenarios"
	"github.com/locktest/locktest/stores"
	"github.com/locktest/locktest/stores/etcd"
	"github.com/locktest/locktest/stores/postgres"
	"github.com/locktest/locktest/stores/redis"
	"github.com/locktest/locktest/stores/zookeeper"
	"github.com/locktest/locktest/workloads"
)

// Store is an entry of the catalogue: a kind of server where the guarded resource can live.
type Store struct {
	Name    string
	About   string
	Service func() cluster.Service
	Server  map[string]string // its options
	New     func(stores.Options) stores.Store
}

// Stores returns all of them, in order of names.
func Stores() []Store {
	return []Store{
		{"etcd", "in an etcd of its own: one transaction compares and writes", etcdService, nil, func(o stores.Options) stores.Store { return etcd.New(o) }},
		{"postgres", "in a PostgreSQL of its own: UPDATE … WHERE fence <= $n, and the affected rows are counted", pgserver.Service, nil, func(o stores.Options) stores.Store { return postgres.New(o) }},
		{"redis", "in a Redis of its own, which keeps what it took over a crash: one script compares and writes", redisserver.Service, map[string]string{"persistence": "aof-always"}, func(o stores.Options) stores.Store { return redis.New(o) }},
		{"zookeeper", "in a ZooKeeper of its own: a multi on top of the versions of nodes", zkserver.Service, nil, func(o stores.Options) stores.Store { return zookeeper.New(o) }},
	}
}

// FindStore returns the store of that name.
func FindStore(name string) (Store, bool) {
	for _, s := range Stores() {
		if s.Name == name {
			return s, true
		}
	}
	return Store{}, false
}

func storeNames() map[string]string {
	names := map[string]string{workloads.Harness: "in locktest; the client's reply is the write"}
	for _, s := range Stores() {
		names[s.Name] = s.About + "; clients read and write it themselves"
	}
	return names
}

// storage plans the server of the guarded resource, if it is to have one.
func storage(p *runner.Plan, self string) error {
	w := p.Scenario.Workload
	s, ok := FindStore(w.Store)
	if !ok || !p.Workload.UsesResource() {
		return nil
	}
	if why := unstorable(p); why != "" {
		return &runner.PowerError{File: p.Scenario.File, Err: fmt.Errorf("workload.store: %s: %s", s.Name, why)}
	}
	o := process.Options{Service: s.Service(), Nodes: 1, Name: scenarios.NamedStore, Server: s.Server}
	if o.Service.Child != "" {
		o.Self = self
	} else if _, err := process.Find(o.Service); err != nil {
		return storeNeeded(err, p, s)
	}
	p.Store = &runner.Store{Kind: s.Name, Open: s.New, Cluster: func(site runner.Site) (cluster.Cluster, error) {
		o := o
		o.LogDir, o.Spawner, o.Log = site.Logs, site.Spawner, site.Log
		return process.New(o)
	}}
	return nil
}

// unstorable says why the resource can't live in a server.
func unstorable(p *runner.Plan) string {
	var checks []string
	for _, c := range stores.Checks() {
		if string(c) == p.Scenario.Workload.Resource {
			checks = nil
			break
		}
		checks = append(checks, string(c))
	}
	switch {
	case p.Kind == "none":
		return "the lock lives in memory, and its clients have no links"
	case p.Workload.Name() == workloads.Once{}.Name():
		return "the workload once keeps its jobs in the harness"
	case checks != nil:
		return "resource " + p.Scenario.Workload.Resource + " is the harness's alone; a server's are " + strings.Join(checks, ", ")
	}
	return ""
}

// storeNeeded says which scenario asked for what is missing.
func storeNeeded(err error, p *runner.Plan, s Store) error {
	var e *cluster.Error
	if errors.As(err, &e) {
		e.Details = append([]string{fmt.Sprintf("needed by: workload.store: %s in %s", s.Name, p.Scenario.File)}, e.Details...)
	}
	return err
}

// openStore makes the store that a hello tells of; nil: it tells of none.
func openStore(v any) (stores.Store, error) {
	said, ok := v.(map[string]any)
	if !ok {
		return nil, nil
	}
	s, ok := FindStore(text(said["kind"]))
	if !ok {
		return nil, fmt.Errorf("there is no store %q", text(said["kind"]))
	}
	return s.New(stores.Options{Addr: text(said["addr"]), Check: stores.Check(text(said["check"]))}), nil
}

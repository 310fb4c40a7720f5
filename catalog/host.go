package catalog

import (
	"cmp"
	"fmt"
	"os"

	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/cluster/docker"
	"github.com/locktest/locktest/cluster/embedded"
	"github.com/locktest/locktest/cluster/process"
	"github.com/locktest/locktest/runner"
	"github.com/locktest/locktest/scenarios"
)

// host decides where the servers run, and says why where that was left open. self is this program's own file.
func host(p *runner.Plan, lock Lock, self string) error {
	if lock.Memory() {
		p.Kind = "none"
		return nil
	}
	service := lock.Service()
	c := p.Scenario.Cluster
	p.Kind = c.Kind
	if c.Kind == "" || c.Kind == "auto" {
		p.Kind, p.KindWhy = auto(service)
	}
	nodes := cmp.Or(c.Nodes, lock.Nodes)
	p.Scenario.Cluster.Nodes = nodes
	p.Network = network
	switch {
	case p.Kind == "process":
		if _, err := process.Find(service); err != nil {
			return needed(err, p, service)
		}
		p.Cluster = processes(p, service, "")
	case p.Kind == "embedded" && service.Child != "":
		p.Cluster, p.Real = processes(p, service, self), true
	case p.Kind == "embedded":
		p.Cluster = func(runner.Site) (cluster.Cluster, error) {
			return embedded.New(embedded.Options{Service: service, Nodes: nodes, Server: c.Options})
		}
	case p.Kind == "docker":
		made := containers(service, nodes, c)
		if _, err := made(runner.Site{}); err != nil {
			return needed(err, p, service)
		}
		p.Cluster = made
	case p.Kind == "external":
		return foreign(p, service)
	default:
		return fmt.Errorf("there is no kind of cluster %q", p.Kind)
	}
	return nil
}

// processes are servers of their own; with self, parts of this program that it starts as such.
func processes(p *runner.Plan, s cluster.Service, self string) func(runner.Site) (cluster.Cluster, error) {
	c, disks := p.Scenario.Cluster, stalls(p.Scenario)
	return func(site runner.Site) (cluster.Cluster, error) {
		return process.New(process.Options{Service: s, Nodes: c.Nodes, Server: c.Options, Disks: disks, Self: self, LogDir: site.Logs, Spawner: site.Spawner, Log: site.Log})
	}
}

func containers(s cluster.Service, nodes int, c scenarios.Cluster) func(runner.Site) (cluster.Cluster, error) {
	return func(site runner.Site) (cluster.Cluster, error) {
		return docker.New(docker.Options{Service: s, Nodes: nodes, Server: c.Options, Image: c.Image, Version: c.Version, LogDir: site.Logs, Run: site.Run, Log: site.Log})
	}
}

func auto(s cluster.Service) (kind, why string) {
	if s.Child != "" {
		return "embedded", s.Name + " is a part of locktest, started as processes of its own"
	}
	path, err := process.Find(s)
	if err == nil {
		return "process", path + " was found"
	}
	if s.Embed == nil || os.Getenv(s.Env) != "" { // a setting that is wrong is told, not passed over
		return "process", ""
	}
	return "embedded", s.Binary + " was not found"
}

// needed says which scenario and lock asked for what is missing.
func needed(err error, p *runner.Plan, s cluster.Service) error {
	e, ok := err.(*cluster.Error)
	if !ok {
		return err
	}
	e.Details = append([]string{fmt.Sprintf("needed by: %s (--on %s) in %s", p.Lock, p.Kind, p.Scenario.File)}, e.Details...)
	switch {
	case s.Child != "":
		e.Fix = append(e.Fix, fmt.Sprintf("--on embedded runs the %s that is a part of locktest", s.Name))
	case s.Embed != nil:
		e.Fix = append(e.Fix, "--on embedded runs servers inside locktest, without the real ones")
	}
	return e
}

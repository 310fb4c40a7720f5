package catalog

import (
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"slices"

	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/cluster/external"
	"github.com/locktest/locktest/internal/access"
	"github.com/locktest/locktest/runner"
	"github.com/locktest/locktest/scenarios"
)

// foreign makes a plan for servers that stand already: what enters them is read now, and the clients are told where to find it.
func foreign(p *runner.Plan, s cluster.Service) error {
	c := p.Scenario.Cluster
	if p.Lock == "redis/sentinel" {
		return &cluster.Error{
			Code:    cluster.CodeUnhostable,
			Message: "Sentinels of somebody else's tell addresses that bypass the links",
			Fix:     []string{"--on process", "redis/replicated asks each server whether it is the primary"},
		}
	}
	spec, err := accessSpec(c.Access)
	if err != nil {
		return err
	}
	if p.Access, err = spec.Open(); err != nil {
		return &cluster.Error{
			Code:    cluster.CodeAccess,
			Message: "what is needed to enter the servers isn't there",
			Details: []string{"needed by: cluster in " + p.Scenario.File},
			Fix:     []string{"cluster.password-env names a variable, cluster.password-file a file, cluster.tls-ca, tls-cert and tls-key files in PEM"},
			Err:     err,
		}
	}
	p.Scenario.Cluster.Nodes = len(c.Endpoints)
	for _, e := range c.Endpoints {
		host, _, err := net.SplitHostPort(e)
		if err != nil {
			return fmt.Errorf("endpoint %s: %w", e, err)
		}
		p.Servers = append(p.Servers, host)
	}
	p.Hello["access"], p.Hello["hosts"] = spec, p.Servers
	p.Cluster = func(runner.Site) (cluster.Cluster, error) {
		return external.New(external.Options{Service: s, Endpoints: c.Endpoints, Access: p.Access})
	}
	return nil
}

// accessSpec names files so that they are found from everywhere.
func accessSpec(a scenarios.Access) (access.Spec, error) {
	s := access.Spec{User: a.User, PasswordEnv: a.PasswordEnv, PasswordFile: a.PasswordFile, TLS: a.TLS, CA: a.CA, Cert: a.Cert, Key: a.Key}
	for _, path := range []*string{&s.PasswordFile, &s.CA, &s.Cert, &s.Key} {
		if *path == "" {
			continue
		}
		abs, err := filepath.Abs(*path)
		if err != nil {
			return access.Spec{}, err
		}
		*path = abs
	}
	return s, nil
}

// harmless refuses faults on servers of somebody else's, unless they may be harmed. What happens on the links harms only our clients.
func harmless(p *runner.Plan) error {
	c := p.Scenario.Cluster
	if p.Kind != "external" || c.AllowFaults {
		return nil
	}
	for i, f := range p.Scenario.Faults {
		if name := faultNames()[f.Kind]; !name.Network && hitsNodes(f.Args) {
			return &runner.PowerError{Fault: p.Faults[i], File: p.Scenario.File, Err: errors.New(f.Kind + ": the servers are somebody else's, and may not be harmed; cluster.allow-faults: true says that they may")}
		}
	}
	return nil
}

// hitsNodes: what isn't aimed at clients alone.
func hitsNodes(a scenarios.Args) bool {
	client := func(name string) bool {
		return name == "clients" || name == "holder" || name == "waiter" || len(name) > 1 && name[0] == 'c' && name[1] >= '0' && name[1] <= '9'
	}
	if len(a.Kinds) > 0 {
		return a.On == "nodes"
	}
	if len(a.List) > 0 {
		return slices.ContainsFunc(a.List, func(n string) bool { return !client(n) })
	}
	return !client(a.Of)
}

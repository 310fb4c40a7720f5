//go:build integration

package controls

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/locktest/locktest/catalog"
	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/history"
	"github.com/locktest/locktest/internal/proc"
	"github.com/locktest/locktest/locks"
	"github.com/locktest/locktest/locks/lockstest"
	"github.com/locktest/locktest/runner"
	"github.com/locktest/locktest/scenarios"
)

// leaseOf is the lease that a conformance test asks for: as short as etcd and ZooKeeper allow.
const leaseOf = time.Second

// Every strategy, on servers of its own, does what it claims.
func TestConformance(t *testing.T) {
	var lines []string
	t.Cleanup(func() { t.Log(claimsTable(lines)) })
	for _, l := range catalog.Locks() {
		if l.Broken() {
			continue
		}
		lines = append(lines, conforms(t, l, l.Name, nil))
		if slices.Contains(l.Options, "renew") {
			lines = append(lines, conforms(t, l, l.Name+" renewed", map[string]string{"renew": (leaseOf / 4).String()}))
		}
	}
}

// conforms runs the kit on l with these options, and says how that went.
func conforms(t *testing.T, l catalog.Lock, name string, options map[string]string) (line string) {
	p, err := l.New(options)
	if err != nil {
		t.Fatal(err)
	}
	if claims := p.Claims(leaseOf); claims.Background != (options != nil) {
		t.Errorf("%s: it claims to renew in the background: %v", name, claims.Background)
	}
	passed := t.Run(name, func(t *testing.T) {
		addrs, tests := serversOf(t, l), 0
		lockstest.Run(t, func(*testing.T) lockstest.Kit {
			tests++
			return lockstest.Kit{Provider: p, Addrs: addrs, TTL: leaseOf, Prefix: fmt.Sprintf("test-%d-", tests)}
		})
	})
	return fmt.Sprintf("%s\t%s\t%v", name, claimed(p.Claims(leaseOf)), map[bool]string{true: "passed", false: "FAILED"}[passed])
}

// serversOf starts what l runs on, with the links that a run has, and returns where a client dials it.
func serversOf(t *testing.T, l catalog.Lock) (addrs []string) {
	t.Helper()
	if l.Memory() {
		return nil
	}
	src := []byte("version: 1\nname: conformance\nclients: { count: 1 }\n")
	s, problems := scenarios.Load("conformance.yaml", src, catalog.Names(), scenarios.Setting{Flag: "lock", Key: "lock.use", Value: l.Name})
	if s == nil {
		t.Fatal(problems)
	}
	plan, err := catalog.Resolve(s, src, catalog.ResolveOptions{Seed: 1, Self: catalog.Self()})
	if err != nil {
		t.Fatal(err)
	}
	if plan.Kind == "embedded" && !plan.Real {
		t.Fatal("the server's program was not found: make deps")
	}
	spawner, err := proc.NewSpawner(proc.Options{Supervisor: plan.Supervisor})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { spawner.Close() })
	log := slog.New(slog.DiscardHandler)
	c, err := plan.Cluster(runner.Site{Run: "conformance", Logs: t.TempDir(), Spawner: spawner, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	n, err := cluster.Up(t.Context(), c, func(nodes []cluster.Node, p *cluster.Peering) (cluster.Network, error) {
		return plan.Network(runner.Links{Nodes: nodes, Peering: p, Clients: []string{"c1"}, Seed: 1, Log: log})
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Close() })
	for _, node := range c.Nodes() {
		addrs = append(addrs, n.Addr("c1", node.Name()))
	}
	return addrs
}

// claimed are the claims in words.
func claimed(c locks.Claims) string {
	words := []string{"expiry " + string(c.Expiry)}
	for _, w := range []struct {
		is   bool
		word string
	}{
		{c.Tokens != history.NoTokens, "tokens"}, {c.OwnerChecked, "owner checked"}, {c.ReleaseHeld, "release proves held"}, {c.TellsLoss, "tells loss"},
		{c.Background, "renews"}, {c.Validity, "reports validity"}, {c.Blocking, "blocking"}, {c.FIFO, "FIFO"}, {c.Shared, "shared mode"}, {c.Permits > 0, fmt.Sprintf("%d permits", c.Permits)},
		{c.Reentry > 0, fmt.Sprintf("re-entrant to %d", c.Reentry)}, {c.NonExclusive, "no exclusion"}, {!c.Distributed, "in one process"},
	} {
		if w.is {
			words = append(words, w.word)
		}
	}
	return strings.Join(words, ", ")
}

func claimsTable(lines []string) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "\nlock\tclaims\tresult")
	for _, l := range lines {
		fmt.Fprintln(w, l)
	}
	w.Flush()
	return b.String()
}

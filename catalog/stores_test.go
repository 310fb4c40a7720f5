package catalog_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/locktest/locktest/catalog"
	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/runner"
	"github.com/locktest/locktest/scenarios"
	"github.com/locktest/locktest/stores"
	"github.com/locktest/locktest/workloads"
)

// resolve makes a plan of a scenario with settings, KEY=VALUE.
func resolve(t *testing.T, name string, settings ...string) (*runner.Plan, error) {
	t.Helper()
	file, src, err := scenarios.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	var set []scenarios.Setting
	for _, s := range settings {
		key, value, _ := strings.Cut(s, "=")
		set = append(set, scenarios.Setting{Flag: "--set", Key: key, Value: value})
	}
	s, problems := scenarios.Load(file, src, catalog.Names(), set...)
	if s == nil {
		t.Fatal(problems)
	}
	return catalog.Resolve(s, src, catalog.ResolveOptions{Self: "locktest"})
}

func TestStoresArePlanned(t *testing.T) {
	for _, s := range catalog.Stores() {
		p, err := resolve(t, "stores/paused-checked", "workload.store="+s.Name)
		if err != nil {
			t.Fatalf("%v; make deps installs it", err)
		}
		if p.Store == nil || p.Store.Kind != s.Name {
			t.Fatalf("%s: the plan has the store %+v", s.Name, p.Store)
		}
		c, err := p.Store.Cluster(runner.Site{})
		if err != nil {
			t.Fatal(err)
		}
		if nodes := c.Nodes(); len(nodes) != 1 || nodes[0].Name() != "store" {
			t.Errorf("%s: nodes %v", s.Name, nodes)
		}
		c.Close()
	}
	if p, err := resolve(t, "stores/paused-checked", "workload.use=mutex"); err != nil || p.Store != nil {
		t.Errorf("a workload without a resource has a store: %v", err)
	}
}

func TestStoresAreRefused(t *testing.T) {
	for name, c := range map[string]struct{ setting, want string }{
		"a lock in memory":            {"lock.use=memory/lease", "have no links"},
		"jobs":                        {"workload.use=once", "keeps its jobs"},
		"a check of the harness's":    {"workload.resource=checks-token-on-writes", "the harness's alone"},
		"another of the harness's":    {"workload.resource=ignores-refusal", "the harness's alone"},
		"the store's program is gone": {"", "not found"},
	} {
		t.Run(name, func(t *testing.T) {
			settings := []string{"faults=[]"}
			if c.setting != "" {
				settings = append(settings, c.setting)
			} else {
				t.Setenv("LOCKTEST_POSTGRES", "/nowhere/postgres")
			}
			_, err := resolve(t, "stores/paused-checked", settings...)
			var power *runner.PowerError
			var missing *cluster.Error
			if err == nil || !errors.As(err, &power) && !errors.As(err, &missing) {
				t.Fatalf("got %v", err)
			}
			if power != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("it says %q, want %q", err, c.want)
			}
			if missing != nil && !strings.Contains(strings.Join(missing.Details, "\n"), "workload.store: postgres") {
				t.Errorf("it doesn't say what needs it: %v", missing.Details)
			}
		})
	}
}

// A check has one name, in scenarios and in stores.
func TestChecksOfStores(t *testing.T) {
	for _, c := range stores.Checks() {
		if catalog.Names().Resources[string(c)] == "" {
			t.Errorf("there is no resource %s", c)
		}
	}
	if stores.ChecksInTwoSteps != workloads.ChecksInTwoSteps {
		t.Errorf("%s is called %s in the harness", stores.ChecksInTwoSteps, workloads.ChecksInTwoSteps)
	}
}

package nemesis

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/locktest/locktest/cluster"
)

// ruled is a node of a cluster whose leaders change by the script, one step for each question.
type ruled struct {
	name   string
	script *[][]string
}

func (r ruled) Name() string { return r.name }
func (r ruled) Addr() string { return "" }

func (r ruled) HasLeaders() error {
	if r.script == nil {
		return errors.New("it has no leader")
	}
	return nil
}

func (r ruled) Leaders(context.Context) ([]string, error) {
	if len(*r.script) == 0 {
		return nil, errors.New("nobody answers")
	}
	now := (*r.script)[0]
	*r.script = (*r.script)[1:]
	return now, nil
}

func TestLeaderIsWhoLeadsWhenTheFaultBegins(t *testing.T) {
	for name, c := range map[string]struct {
		script [][]string
		want   []string // one of them
	}{
		"at once":            {[][]string{{"n2"}}, []string{"n2"}},
		"after an election":  {[][]string{{}, {}, {"n3"}}, []string{"n3"}},
		"with an old leader": {[][]string{{"n1", "n3"}}, []string{"n1", "n3"}},
	} {
		t.Run(name, func(t *testing.T) {
			env := Env{Rand: rand.New(rand.NewPCG(1, 2))}
			for _, n := range []string{"n1", "n2", "n3"} {
				env.Nodes = append(env.Nodes, ruled{n, &c.script})
			}
			target := Target{Of: Leader}
			if err := target.check(env); err != nil {
				t.Fatal(err)
			}
			got, err := target.pick(t.Context(), env)
			if err != nil || len(got) != 1 || !slices.Contains(c.want, got[0]) {
				t.Errorf("picked %v, %v; want one of %v", got, err, c.want)
			}
		})
	}
}

func TestLeaderIsRefusedWhereNobodyLeads(t *testing.T) {
	for want, nodes := range map[string][]cluster.Node{
		"lives in memory":  nil,
		"it has no leader": {ruled{name: "n1"}},
		"can't be asked":   {struct{ cluster.Node }{ruled{name: "n1"}}},
	} {
		err := Target{Of: Leader}.check(Env{Nodes: nodes})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("check: %v, want %q", err, want)
		}
	}
}

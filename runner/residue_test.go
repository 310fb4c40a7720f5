package runner

import (
	"context"
	"errors"
	"testing"

	"github.com/locktest/locktest/cluster"
)

// plain is a node that nobody can ask.
type plain struct{ name string }

func (n plain) Name() string { return n.name }
func (n plain) Addr() string { return "127.0.0.1:1" }

// asked is one that can be, while it runs.
type asked struct {
	plain
	runs    bool
	residue func(context.Context, string, string) ([]cluster.Residue, error)
}

func (n asked) Inside() cluster.Inside {
	return cluster.Inside{Service: cluster.Service{Residue: n.residue}, Running: func() map[string]string {
		if n.runs {
			return map[string]string{n.name: n.Addr()}
		}
		return nil
	}}
}

func TestLeftOn(t *testing.T) {
	broken := errors.New("broken")
	keeps := func(_ context.Context, _, lock string) ([]cluster.Residue, error) {
		if lock == "bad" {
			return nil, broken
		}
		return []cluster.Residue{{Name: "key of " + lock}}, nil
	}
	for name, c := range map[string]struct {
		node  cluster.Node
		locks []string
		found int
		ok    bool
	}{
		"one that can't be asked":    {plain{"n1"}, []string{"a"}, 0, false},
		"one whose kind isn't asked": {asked{plain{"n1"}, true, nil}, []string{"a"}, 0, false},
		"one that is dead":           {asked{plain{"n1"}, false, keeps}, []string{"a"}, 0, false},
		"one that answers":           {asked{plain{"n1"}, true, keeps}, []string{"a", "b"}, 2, true},
		"one that answers once":      {asked{plain{"n1"}, true, keeps}, []string{"a", "bad", "b"}, 1, false},
	} {
		ops, err := leftOn(t.Context(), c.node, c.locks)
		if len(ops) != c.found || (err == nil) != c.ok {
			t.Errorf("%s: found %v, %v", name, ops, err)
		}
		for _, op := range ops {
			if op.Name == "" || op.Lock == "" || op.Text != "It was found on n1." {
				t.Errorf("%s: %+v", name, op)
			}
		}
	}
}

package nemesis

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/locktest/locktest/cluster"
)

// The directions of a fault on links, as seen from the clients. Empty is both.
const (
	BothWays  = "both"
	ToNodes   = "to-nodes"   // requests are harmed, replies are not
	FromNodes = "from-nodes" // requests are carried out, their replies are harmed
)

// PartitionSpec says who can't reach whom. Either Groups or Of is set.
type PartitionSpec struct {
	// Groups are sides: no link between two of them works. The words nodes and clients stand for all that no group names.
	// Who is in no group reaches everybody.
	Groups    [][]string
	Of        Target       // is cut off from everybody else
	Direction string       // BothWays, ToNodes, FromNodes
	Mode      cluster.Mode // Pass counts as Hold
	// Shape is empty, or Ring: Of is then All, and there is no Direction.
	Shape string
}

// Partition cuts links.
type Partition struct{ spec PartitionSpec }

// NewPartition returns a partition as spec says.
func NewPartition(spec PartitionSpec) *Partition {
	if spec.Mode == cluster.Pass {
		spec.Mode = cluster.Hold
	}
	return &Partition{spec}
}

// Kind is "partition".
func (p *Partition) Kind() string { return "partition" }

// Text says it in words.
func (p *Partition) Text() string {
	if p.spec.Shape != "" {
		return "cut all nodes and clients into a ring of majorities" + p.manner()
	}
	if len(p.spec.Groups) == 0 {
		return "cut " + p.spec.Of.Text() + " off" + p.manner()
	}
	return "cut " + groupsText(p.spec.Groups) + p.manner()
}

// Target is who is cut off; the zero Target where there are groups.
func (p *Partition) Target() Target { return p.spec.Of }

// Check wants nodes, and names that exist.
func (p *Partition) Check(env Env) error {
	if err := checkLinks(env, p.spec.Direction); err != nil {
		return fmt.Errorf("partition: %w", err)
	}
	if p.spec.Shape != "" {
		return p.checkRing(env)
	}
	if len(p.spec.Groups) == 0 {
		if err := p.spec.Of.check(env); err != nil {
			return fmt.Errorf("partition: %w", err)
		}
		return nil
	}
	groups, err := p.groups(env)
	if err != nil {
		return fmt.Errorf("partition: %w", err)
	}
	if len(between(env, groups, p.spec.Direction)) == 0 {
		return fmt.Errorf("partition: %s leaves every client with every node", groupsText(p.spec.Groups))
	}
	return nil
}

// Inject cuts the links.
func (p *Partition) Inject(ctx context.Context, env Env) (Injection, error) {
	if len(p.spec.Groups) > 0 {
		groups, err := p.groups(env)
		if err != nil {
			return Injection{}, fmt.Errorf("partition: %w", err)
		}
		return p.cut(ctx, env, slices.Concat(groups...), p.Text(), between(env, groups, p.spec.Direction))
	}
	if p.spec.Shape != "" {
		return p.cut(ctx, env, env.nodes(), p.Text(), ring(env))
	}
	names, err := p.spec.Of.pick(ctx, env)
	if err != nil {
		return Injection{}, fmt.Errorf("cut %s off: %w", p.spec.Of.Text(), err)
	}
	text := "cut " + and(names) + " off" + p.manner()
	return p.cut(ctx, env, names, text, around(env, names, p.spec.Direction))
}

func (p *Partition) cut(ctx context.Context, env Env, targets []string, text string, links []cluster.Link) (Injection, error) {
	return layOn(ctx, env, targets, text, cluster.Condition{Mode: p.spec.Mode}, links)
}

func (p *Partition) manner() string {
	var words []string
	switch p.spec.Direction {
	case ToNodes:
		words = append(words, "requests only")
	case FromNodes:
		words = append(words, "replies only")
	}
	if p.spec.Mode != cluster.Hold {
		words = append(words, p.spec.Mode.String())
	}
	if len(words) == 0 {
		return ""
	}
	return " (" + strings.Join(words, ", ") + ")"
}

// groups turns names and words into names; nobody may be on two sides.
func (p *Partition) groups(env Env) ([][]string, error) {
	named := map[string]bool{}
	for _, name := range slices.Concat(p.spec.Groups...) {
		if named[name] {
			return nil, fmt.Errorf("%s is in two groups", name)
		}
		named[name] = true
	}
	out := make([][]string, len(p.spec.Groups))
	for i, group := range p.spec.Groups {
		for _, name := range group {
			names, err := expand(env, name)
			if err != nil {
				return nil, err
			}
			if name == Nodes || name == AllUsers {
				names = slices.DeleteFunc(slices.Clone(names), func(n string) bool { return named[n] })
			}
			out[i] = append(out[i], names...)
		}
	}
	return out, nil
}

func groupsText(groups [][]string) string {
	sides := make([]string, len(groups))
	for i, g := range groups {
		sides[i] = "{" + strings.Join(g, ", ") + "}"
	}
	return strings.Join(sides, " from ")
}

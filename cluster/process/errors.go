package process

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/internal/ports"
	"github.com/locktest/locktest/internal/proc"
)

// tailLines is how much of a log explains a death.
const tailLines = 10

func isCode(err error, code string) bool {
	var e *cluster.Error
	return errors.As(err, &e) && e.Code == code
}

func (n *node) portInUse() error {
	e := &cluster.Error{
		Code:    cluster.CodePortInUse,
		Message: fmt.Sprintf("port %d is in use", n.port),
		Details: []string{"wanted by: node " + n.name},
	}
	if n.cluster.basePort != 0 {
		e.Details[0] += fmt.Sprintf(" (the scenario fixes it: %s is %d)", BasePort, n.cluster.basePort)
		e.Fix = []string{fmt.Sprintf("remove %s; locktest then takes free ports", BasePort)}
	}
	if owner := proc.Owner(n.port); owner != "" {
		e.Details = append(e.Details, "used by: "+owner)
	}
	return e
}

// ended says why a server that ended before it answered did so.
func (n *node) ended(p *proc.Process) error {
	if !ports.Free(n.host, n.port) {
		return n.portInUse()
	}
	return n.serverError(n.name+" did not become ready", howItEnded(p), p)
}

// died describes a server that ended by itself.
func (n *node) died(p *proc.Process) error {
	return n.serverError(n.name+" ended by itself", howItEnded(p), p)
}

func (n *node) unready(ctx context.Context, p *proc.Process, last error) error {
	if !errors.Is(context.Cause(ctx), errTooLate) {
		return fmt.Errorf("start node %s: %w", n.name, context.Cause(ctx))
	}
	what := fmt.Sprintf("%s did not become ready in %v", n.name, n.cluster.o.Ready)
	return n.serverError(what, fmt.Sprintf("it runs, but: %v", last), p)
}

// unformed tells of nodes that run and don't find together, with what each of them wrote last.
func (c *Cluster) unformed(ctx context.Context, last error) error {
	if !errors.Is(context.Cause(ctx), errTooLate) {
		return fmt.Errorf("start cluster: %w", context.Cause(ctx))
	}
	e := &cluster.Error{
		Code:    cluster.CodeServerDied,
		Message: fmt.Sprintf("the nodes run, and did not become one cluster in %v", c.o.Ready),
		Details: []string{"at last: " + last.Error()},
	}
	for _, n := range c.nodes {
		e.Details = append(e.Details, fmt.Sprintf("last lines of %s:", n.log))
		lines, err := proc.Tail(n.log, tailLines)
		if err != nil {
			lines = []string{err.Error()}
		}
		for _, l := range lines {
			e.Details = append(e.Details, "    "+l)
		}
	}
	return e
}

func (n *node) serverError(what, how string, p *proc.Process) error {
	e := &cluster.Error{
		Code:    cluster.CodeServerDied,
		Message: what,
		Details: []string{"command: " + strings.Join(append([]string{n.cluster.binary}, quote(n.argv)...), " ")},
	}
	lines := p.LogTail(tailLines)
	if len(lines) == 0 {
		e.Details = append(e.Details, fmt.Sprintf("%s; its log %s is empty", how, n.log))
		return e
	}
	e.Details = append(e.Details, fmt.Sprintf("%s; last lines of %s:", how, n.log))
	for _, l := range lines {
		e.Details = append(e.Details, "    "+l)
	}
	return e
}

func howItEnded(p *proc.Process) string {
	if err := p.ExitErr(); err != nil {
		return err.Error()
	}
	return "it exited with status 0"
}

// quote makes arguments readable that a shell would not take as one word.
func quote(argv []string) []string {
	out := make([]string, len(argv))
	for i, a := range argv {
		out[i] = a
		if a == "" || strings.ContainsAny(a, " \t\n'\"$") {
			out[i] = fmt.Sprintf("%q", a)
		}
	}
	return out
}

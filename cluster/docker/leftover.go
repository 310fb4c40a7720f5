package docker

import (
	"context"
	"errors"
	"fmt"

	"github.com/moby/moby/client"

	"github.com/locktest/locktest/internal/proc"
)

// Leftover is a container of a harness that is dead.
type Leftover struct{ ID, Node, Run, Harness string }

func (l Leftover) String() string {
	return fmt.Sprintf("container %.12s (%s of run %s)", l.ID, l.Node, l.Run)
}

// Leftovers returns the containers whose harness ran on this machine and doesn't live. Where no engine answers there are none that
// could be seen: the error is a *cluster.Error then.
func Leftovers(ctx context.Context) ([]Leftover, error) {
	api, err := local(ctx)
	if err != nil {
		return nil, err
	}
	defer api.Close()
	r, err := api.ContainerList(ctx, client.ContainerListOptions{All: true, Filters: make(client.Filters).Add("label", LabelHarness).Add("label", LabelMachine+"="+proc.Machine())})
	if err != nil {
		return nil, fmt.Errorf("list containers: %w", err)
	}
	var out []Leftover
	for _, c := range r.Items {
		alive, err := proc.Lives(c.Labels[LabelHarness])
		if err != nil {
			return nil, err
		}
		if !alive {
			out = append(out, Leftover{ID: c.ID, Node: c.Labels[LabelNode], Run: c.Labels[LabelRun], Harness: c.Labels[LabelHarness]})
		}
	}
	return out, nil
}

// RemoveLeftovers removes containers with their data, paused ones too.
func RemoveLeftovers(ctx context.Context, ls []Leftover) error {
	api, err := local(ctx)
	if err != nil {
		return err
	}
	defer api.Close()
	var errs []error
	for _, l := range ls {
		if _, err := api.ContainerRemove(ctx, l.ID, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true}); err != nil {
			errs = append(errs, fmt.Errorf("remove %v: %w", l, err))
		}
	}
	return errors.Join(errs...)
}

// local is a client of the engine on this machine.
func local(ctx context.Context) (*client.Client, error) {
	at, err := findEndpoint()
	if err != nil {
		return nil, err
	}
	if _, err := at.ask(ctx); err != nil {
		return nil, err
	}
	return client.New(client.FromEnv, client.WithHost(at.addr))
}

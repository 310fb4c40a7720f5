package zookeeper

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"
)

// errGone says that a place in the queue is there no more: the session has ended.
var errGone = errors.New("the node is gone, and so is the session")

// enqueue makes the node.
func (g *grant) enqueue(ctx context.Context) error {
	err := g.create(ctx)
	if errors.Is(err, zk.ErrNoNode) { // the first one ever
		if err = g.makeDirs(ctx); err == nil {
			err = g.create(ctx)
		}
	}
	return err
}

func (g *grant) create(ctx context.Context) error {
	var path string
	err := g.do(ctx, func(c *zk.Conn) (err error) {
		path, err = c.Create(g.dir+"/"+g.owner+g.node, nil, zk.FlagEphemeral|zk.FlagSequence, zk.WorldACL(zk.PermAll))
		return err
	})
	if err == nil {
		g.path = path
	}
	return err
}

func (g *grant) makeDirs(ctx context.Context) error {
	for _, dir := range []string{root, g.dir} {
		err := g.do(ctx, func(c *zk.Conn) error {
			_, err := c.Create(dir, nil, 0, zk.WorldACL(zk.PermAll))
			return err
		})
		if err != nil && !errors.Is(err, zk.ErrNodeExists) {
			return err
		}
	}
	return nil
}

// before returns the path of the node that has to go first; anyOf: any of them; empty: none, the lock is granted. What a server shows is never older than what
// this client has seen, and so has every node with a lower number.
func (g *grant) before(ctx context.Context) (string, error) {
	names, err := g.queue(ctx)
	if err != nil {
		return "", err
	}
	own := strings.TrimPrefix(g.path, g.dir+"/")
	i := slices.Index(names, own)
	switch {
	case i < 0:
		return "", errGone
	}
	name := g.recipe.before(g, names[:i])
	if name == "" || name == anyOf {
		return name, nil
	}
	return g.dir + "/" + name, nil
}

// find looks for a node whose name never came back, on a server that knows all that was carried out until now.
func (g *grant) find(ctx context.Context) (string, error) {
	err := g.do(ctx, func(c *zk.Conn) error {
		_, err := c.Sync(g.dir)
		return err
	})
	if errors.Is(err, zk.ErrNoNode) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	names, err := g.queue(ctx)
	if errors.Is(err, zk.ErrNoNode) {
		return "", nil
	}
	for _, name := range names {
		if strings.HasPrefix(name, g.owner+g.node) {
			return g.dir + "/" + name, nil
		}
	}
	return "", err
}

// queue lists the nodes in their order, which is that of their numbers alone.
func (g *grant) queue(ctx context.Context) ([]string, error) {
	var names []string
	err := g.do(ctx, func(c *zk.Conn) (err error) {
		names, _, err = c.Children(g.dir)
		return err
	})
	if err != nil {
		return nil, err // names may yet come
	}
	slices.SortFunc(names, func(a, b string) int { return strings.Compare(number(a), number(b)) })
	return names, nil
}

func number(name string) string { return name[strings.LastIndexByte(name, '-')+1:] }

// lookAgain is how long a watch is trusted: a server that is cut off tells nothing.
const lookAgain = time.Second

// await waits until a node goes, or it is time to look again; false says that the wait is over.
func (g *grant) await(ctx context.Context, path string, deadline time.Time) bool {
	var there bool
	var watch, gone <-chan zk.Event
	err := g.do(ctx, func(c *zk.Conn) (err error) {
		if path == anyOf {
			there = true
			_, _, watch, err = c.ChildrenW(g.dir)
			return err
		}
		there, _, watch, err = c.ExistsW(path)
		return err
	})
	switch {
	case err == nil && !there:
		return ctx.Err() == nil
	case err == nil:
		gone = watch // else the next look shows what is wrong
	}
	timer := time.NewTimer(min(time.Until(deadline), lookAgain))
	defer timer.Stop()
	select {
	case <-gone:
	case <-timer.C:
	case <-g.session.lost:
	case <-ctx.Done():
	}
	return ctx.Err() == nil && time.Now().Before(deadline)
}

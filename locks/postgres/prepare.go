package postgres

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/locktest/locktest/cluster"
)

// prepare makes what a node finds when it starts: a pooler its configuration, a server its data where it has none.
func prepare(ctx context.Context, c cluster.NodeConfig) error {
	if isPooler(c) {
		return preparePooler(ctx, c)
	}
	if err := leave(c.Dir); err != nil {
		return err
	}
	there, err := exists(dataDir(c.Dir))
	if there || err != nil {
		return err
	}
	if primary := findPrimary(ctx, c); primary != "" {
		return clone(ctx, c, primary)
	}
	if c.Index == first(c) || len(c.Peers) == 0 { // without peers each is on its own
		return create(ctx, c)
	}
	primary, err := awaitPrimary(ctx, c)
	if err != nil {
		return err
	}
	return clone(ctx, c, primary)
}

// create makes the data by initdb once, and then by a copy of what that made.
func create(ctx context.Context, c cluster.NodeConfig) error {
	there, err := exists(template(c.Dir))
	if err != nil {
		return err
	}
	if !there {
		if err := initdb(ctx, c); err != nil {
			return errors.Join(err, os.RemoveAll(template(c.Dir)))
		}
	}
	return c.Run(ctx, "/bin/cp", "-a", template(c.Dir), dataDir(c.Dir))
}

func initdb(ctx context.Context, c cluster.NodeConfig) error {
	path, err := tool(c.Binary, "initdb")
	if err != nil {
		return err
	}
	if err := c.Run(ctx, path, "-D", template(c.Dir), "-U", "postgres", "-A", "trust", "--no-sync", "--no-locale", "-E", "UTF8", "--wal-segsize=1"); err != nil {
		return err
	}
	return allowLoopback(filepath.Join(template(c.Dir), "pg_hba.conf"))
}

// allowLoopback lets every loopback address in, for replication too.
func allowLoopback(hba string) error {
	f, err := os.OpenFile(hba, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString("host all all 127.0.0.0/8 trust\nhost replication all 127.0.0.0/8 trust\n")
	return errors.Join(err, f.Close())
}

// tool is a program that comes with the server: beside it, or beside what its name is a link to.
func tool(binary, name string) (string, error) {
	real, err := filepath.EvalSymlinks(binary)
	if err != nil {
		return "", err
	}
	for _, b := range []string{binary, real} {
		path := filepath.Join(filepath.Dir(b), name)
		if there, err := exists(path); there || err != nil {
			return path, err
		}
	}
	return "", &cluster.Error{
		Code:    cluster.CodeNoBinary,
		Message: name + " was not found",
		Details: []string{"looked in: the folder of " + binary},
		Fix:     []string{"LOCKTEST_POSTGRES=/usr/lib/postgresql/15/bin/postgres, say, names the server in its own folder"},
	}
}

// wipe removes the data; the template stays.
func wipe(dir string) error {
	if err := leave(dir); err != nil {
		return fmt.Errorf("wipe: %w", err)
	}
	return os.RemoveAll(dataDir(dir))
}

func exists(path string) (bool, error) {
	_, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

package catalog

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"

	"github.com/locktest/locktest/checker"
	"github.com/locktest/locktest/clients"
	"github.com/locktest/locktest/cluster/docker"
	"github.com/locktest/locktest/cluster/etcdd"
	"github.com/locktest/locktest/history"
	"github.com/locktest/locktest/internal/blackhole"
	"github.com/locktest/locktest/internal/proc"
	"github.com/locktest/locktest/locks/etcd"
	"github.com/locktest/locktest/locks/redis"
	"github.com/locktest/locktest/runner"
)

// The first arguments under which a program with this catalogue starts itself again.
const (
	argClient     = "client"
	argSupervise  = "__supervise"
	argCrossCheck = "__cross-check"
)

// Main carries out a start of this program by itself: as a client, as the supervisor, as the second engine, or as a server. done is
// false where args are somebody else's. Programs and test binaries that run scenarios call it before anything else.
func Main(args []string) (status int, done bool) {
	quiet()
	if len(args) < 2 {
		return 0, false
	}
	switch args[1] {
	case argClient:
		if len(args) > 2 {
			return 0, false // a person who asks for help
		}
		return client(stdin(), os.Stdout, os.Stderr), true
	case etcd.ChildArg:
		etcdd.Main(args[2:])
		return 0, true
	case argSupervise:
		return supervise(), true
	case argCrossCheck:
		return checker.CrossCheckMain(os.Stdin, os.Stdout), true
	}
	return 0, false
}

// supervise also lets packets through again that a killed harness has had dropped.
func supervise() int {
	return proc.Supervise(os.Stdin, os.Stdout, func(ctx context.Context) error {
		if blackhole.Supported() != nil {
			return nil // there can be none
		}
		_, err := blackhole.Clean(ctx)
		return err
	})
}

func client(in io.Reader, out, errs io.Writer) int {
	runtime.GOMAXPROCS(1) // many clients share the machine, and each does one thing at a time
	if err := clients.Serve(context.Background(), in, out, OpenClient); err != nil {
		fmt.Fprintln(errs, "locktest client:", err)
		return 1
	}
	return 0
}

// Versions of this program, for histories and results.
func Versions() map[string]string {
	v := map[string]string{"history": history.Schema, "client": clients.ProtocolSchema}
	if info, ok := debug.ReadBuildInfo(); ok {
		v["locktest"] = info.Main.Version
	}
	if version != "" {
		v["locktest"] = version
	}
	return v
}

// CrossCheck is the second engine in a process of its own, self started again; nil where it is left out.
func CrossCheck(on bool, self string) runner.CrossCheck {
	if !on {
		return nil
	}
	return func(ctx context.Context, h *history.History) ([]checker.Agreement, error) {
		return checker.CrossCheckChild(ctx, h, self, []string{argCrossCheck}, checker.Limits{})
	}
}

// quiet stops libraries from writing to standard error by themselves.
func quiet() {
	redis.Quiet()
	docker.Quiet()
}

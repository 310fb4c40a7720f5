package process

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/internal/proc"
)

// withHosts wraps a command so that it sees a table of host names of its own: in a mount namespace, where the file hosts lies
// over /etc/hosts. The process stays the same through every exec, and so do its pid and its death signal.
func withHosts(root bool, hosts, path string, args []string) (string, []string) {
	wrapped := append(unshare(root), "sh", "-c", `mount --bind "$0" /etc/hosts && exec "$@"`, hosts, path)
	return wrapped[0], append(wrapped[1:], args...)
}

// unshare: who isn't root may mount in a user namespace, where it stays who it is and keeps the right for its first exec.
func unshare(root bool) []string {
	if root {
		return []string{"unshare", "--mount"}
	}
	return []string{"unshare", "--map-current-user", "--keep-caps", "--mount"}
}

// namesWork tries whether processes can have host names of their own here; the error is a *cluster.Error.
func namesWork(service string, root bool) error {
	refuse := func(cause error, how string) error {
		return &cluster.Error{
			Code:    cluster.CodeUnhostable,
			Message: fmt.Sprintf("the nodes of %s need host names of their own, which this machine can't give them", service),
			Details: []string{"tried: " + how},
			Fix:     []string{"run on Linux, as root or where users may make namespaces (sysctl user.max_user_namespaces), with unshare of util-linux installed", "run a single node"},
			Err:     cause,
		}
	}
	if runtime.GOOS != "linux" {
		return refuse(nil, "this is "+runtime.GOOS+", which has no mount namespaces")
	}
	dir, err := os.MkdirTemp("", proc.TempName())
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	hosts := filepath.Join(dir, "hosts")
	const line = "127.0.0.1 n1.locktest"
	if err := os.WriteFile(hosts, []byte(line+"\n"), 0o644); err != nil {
		return err
	}
	path, args := withHosts(root, hosts, "cat", []string{"/etc/hosts"})
	out, err := exec.Command(path, args...).CombinedOutput()
	if text := strings.TrimSpace(string(out)); err != nil || text != line {
		return refuse(err, fmt.Sprintf("%s, which printed %q", strings.Join(unshare(root), " "), text))
	}
	return nil
}

package process

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/locktest/locktest/cluster"
)

// Find returns the path of the service's binary: what its environment variable names, else the first on PATH. The error
// is a *cluster.Error.
func Find(s cluster.Service) (string, error) {
	if s.Binary == "" || s.Command == nil {
		return "", &cluster.Error{
			Code:    cluster.CodeUnhostable,
			Message: fmt.Sprintf("%s can't run as processes", s.Name),
		}
	}
	set := os.Getenv(s.Env)
	if s.Env == "" || set == "" {
		path, err := exec.LookPath(s.Binary)
		if err == nil {
			return filepath.Abs(path)
		}
		return "", missing(s, fmt.Sprintf("looked in: PATH (%d folders)%s", folders(), unset(s.Env)))
	}
	path, err := exec.LookPath(set)
	if err != nil {
		return "", missing(s, fmt.Sprintf("looked in: %s=%s, which is no program that can be run", s.Env, set))
	}
	return filepath.Abs(path)
}

func missing(s cluster.Service, where string) error {
	return &cluster.Error{
		Code:    cluster.CodeNoBinary,
		Message: s.Binary + " was not found",
		Details: []string{where},
		Fix:     s.Hint,
	}
}

func folders() int { return len(filepath.SplitList(os.Getenv("PATH"))) }

func unset(env string) string {
	if env == "" {
		return ""
	}
	return fmt.Sprintf(", %s (not set)", env)
}

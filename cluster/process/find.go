package process

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/locktest/locktest/cluster"
)

// Find returns the path of the service's binary: what its environment variable names, else what is in its places
// or on PATH. The error
// is a *cluster.Error.
func Find(s cluster.Service) (string, error) {
	if s.Binary == "" || s.Command == nil {
		return "", &cluster.Error{
			Code:    cluster.CodeUnhostable,
			Message: fmt.Sprintf("%s can't run as processes", s.Name),
		}
	}
	path, err := findBinary(s)
	if err == nil && s.Needs != nil {
		err = s.Needs()
	}
	return path, err
}

func findBinary(s cluster.Service) (string, error) {
	set := os.Getenv(s.Env)
	if s.Env == "" || set == "" {
		return findUnnamed(s)
	}
	path, err := exec.LookPath(set)
	if err != nil {
		return "", missing(s, fmt.Sprintf("looked in: %s=%s, which is no program that can be run", s.Env, set))
	}
	return filepath.Abs(path)
}

// findUnnamed looks into the service's places, the last one first, which is the newest where names have versions; then
// into PATH.
func findUnnamed(s cluster.Service) (string, error) {
	for _, pattern := range s.Places {
		found, err := filepath.Glob(filepath.Join(pattern, s.Binary))
		if err != nil {
			return "", fmt.Errorf("look for %s: %w", s.Binary, err)
		}
		for _, path := range slices.Backward(found) {
			if path, err := exec.LookPath(path); err == nil {
				return filepath.Abs(path)
			}
		}
	}
	path, err := exec.LookPath(s.Binary)
	if err == nil {
		return filepath.Abs(path)
	}
	places := append(slices.Clone(s.Places), fmt.Sprintf("PATH (%d folders)", folders()))
	return "", missing(s, "looked in: "+strings.Join(places, ", ")+unset(s.Env))
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

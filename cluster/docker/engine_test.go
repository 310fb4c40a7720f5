package docker_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/cluster/docker"
	"github.com/locktest/locktest/locks/postgres"
	"github.com/locktest/locktest/locks/redis"
)

func itoa(n int) string { return strconv.Itoa(n) }

// says checks that err is one that a person can mend, and has each of the words.
func says(t *testing.T, err error, code string, words ...string) {
	t.Helper()
	var e *cluster.Error
	if !errors.As(err, &e) || e.Code != code {
		t.Fatalf("error %v, want one with code %s", err, code)
	}
	text := strings.Join(append([]string{e.Error()}, append(e.Details, e.Fix...)...), "\n")
	for _, w := range words {
		if !strings.Contains(text, w) {
			t.Errorf("it doesn't say %q:\n%s", w, text)
		}
	}
	if len(e.Fix) == 0 && code != cluster.CodeServerDied {
		t.Error("it names no way out")
	}
}

// The error says which address was tried, and where that came from.
func TestNoEngine(t *testing.T) {
	nowhere := "unix://" + filepath.Join(t.TempDir(), "docker.sock")
	config := t.TempDir()
	sum := sha256.Sum256([]byte("lab"))
	meta := filepath.Join(config, "contexts", "meta", hex.EncodeToString(sum[:]))
	write(t, filepath.Join(meta, "meta.json"), `{"Name": "lab", "Endpoints": {"docker": {"Host": "`+nowhere+`"}}}`)
	for name, c := range map[string]struct {
		env   map[string]string
		file  string // config.json
		words []string
	}{
		"DOCKER_HOST":               {env: map[string]string{"DOCKER_HOST": nowhere}, words: []string{"no container engine answers", "tried: " + nowhere + " (DOCKER_HOST)", "--on process"}},
		"DOCKER_HOST before all":    {env: map[string]string{"DOCKER_HOST": nowhere, "DOCKER_CONTEXT": "lab"}, words: []string{"(DOCKER_HOST)"}},
		"context by name":           {env: map[string]string{"DOCKER_CONTEXT": "lab"}, words: []string{"tried: " + nowhere + " (context lab of DOCKER_CONTEXT)"}},
		"context in use":            {file: `{"currentContext": "lab"}`, words: []string{"tried: " + nowhere + " (context lab of " + config}},
		"context that isn't there":  {env: map[string]string{"DOCKER_CONTEXT": "cloud"}, words: []string{"context cloud", "names no engine"}},
		"on another machine":        {env: map[string]string{"DOCKER_HOST": "tcp://192.0.2.1:2375"}, words: []string{"not on this machine", "tcp://192.0.2.1:2375 (DOCKER_HOST)"}},
		"on another machine by ssh": {env: map[string]string{"DOCKER_HOST": "ssh://somebody@192.0.2.1"}, words: []string{"not on this machine"}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, e := range []string{"DOCKER_HOST", "DOCKER_CONTEXT", "XDG_RUNTIME_DIR"} {
				t.Setenv(e, "")
			}
			t.Setenv("DOCKER_CONFIG", config)
			write(t, filepath.Join(config, "config.json"), c.file+strings.Repeat("{}", btoi(c.file == "")))
			for e, v := range c.env {
				t.Setenv(e, v)
			}
			_, err := docker.New(docker.Options{Service: redis.Service()})
			says(t, err, cluster.CodeNoEngine, c.words...)
			_, err = docker.Engine(t.Context())
			says(t, err, cluster.CodeNoEngine, c.words...)
		})
	}
}

func TestConfigurationThatIsNone(t *testing.T) {
	config := t.TempDir()
	write(t, filepath.Join(config, "config.json"), "{")
	t.Setenv("DOCKER_HOST", "")
	t.Setenv("DOCKER_CONTEXT", "")
	t.Setenv("DOCKER_CONFIG", config)
	if _, err := docker.New(docker.Options{Service: redis.Service()}); err == nil || !strings.Contains(err.Error(), "config.json") {
		t.Errorf("New() = %v", err)
	}
}

func TestImageOf(t *testing.T) {
	for name, c := range map[string]struct {
		service        cluster.Service
		image, version string
		want           string
	}{
		"the service's own":  {redis.Service(), "", "", "redis:7-alpine"},
		"of a version":       {redis.Service(), "", "6.2", "redis:6.2"},
		"named":              {redis.Service(), "registry.example/valkey:8", "", "registry.example/valkey:8"},
		"PostgreSQL":         {postgres.Service(), "", "", "postgres:15-alpine"},
		"PostgreSQL, newest": {postgres.Service(), "", "17-alpine", "postgres:17-alpine"},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := docker.ImageOf(c.service, c.image, c.version); err != nil || got != c.want {
				t.Errorf("ImageOf() = %q, %v, want %q", got, err, c.want)
			}
		})
	}
	if _, err := docker.ImageOf(redis.Service(), "a", "1"); err == nil {
		t.Error("an image and a version")
	}
}

func TestWhatContainersCanNotRun(t *testing.T) {
	for name, c := range map[string]struct {
		o     docker.Options
		words []string
	}{
		"no image":           {docker.Options{Service: cluster.Service{Name: "lines"}}, []string{"lines can't run in containers"}},
		"nodes that talk":    {docker.Options{Service: postgres.Service(), Nodes: 2}, []string{"2 nodes of postgres talk to each other", "cluster.nodes: 1"}},
		"an unknown option":  {docker.Options{Service: redis.Service(), Server: map[string]string{"persistence": "some"}}, []string{"persistence"}},
		"a port of its own":  {docker.Options{Service: redis.Service(), Server: map[string]string{"base_port": "7000"}}, []string{"base_port"}},
		"Redis with replica": {docker.Options{Service: redis.ReplicatedService(), Nodes: 3}, []string{"3 nodes of"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := docker.New(c.o)
			var e *cluster.Error
			if !errors.As(err, &e) || e.Code != cluster.CodeUnhostable {
				t.Fatalf("New() = %v", err)
			}
			text := e.Error() + strings.Join(e.Fix, "\n")
			for _, w := range c.words {
				if !strings.Contains(text, w) {
					t.Errorf("it doesn't say %q: %s", w, text)
				}
			}
		})
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

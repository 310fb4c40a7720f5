//go:build docker && linux

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/moby/moby/client"

	"github.com/locktest/locktest/history"
	"github.com/locktest/locktest/internal/dockertest"
)

// containersLeft are those of any harness.
func containersLeft(t *testing.T) []string {
	t.Helper()
	api, err := client.New(client.FromEnv)
	if err != nil {
		t.Fatal(err)
	}
	defer api.Close()
	r, err := api.ContainerList(context.Background(), client.ContainerListOptions{All: true, Filters: make(client.Filters).Add("label", "locktest.harness")})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, c := range r.Items {
		out = append(out, fmt.Sprintf("%s of run %s: %s", c.Labels["locktest.node"], c.Labels["locktest.run"], c.State))
	}
	return out
}

// Whole runs: every kind of harm that reaches a container, each healed, and a lock that keeps its promises.
func TestDockerRuns(t *testing.T) {
	redis, postgres := dockertest.Redis(t), dockertest.Postgres(t)
	const faults = `
faults:
  - { at: 2s, for: 700ms, pause: n1 }
  - { at: 4s, for: 700ms, partition: n1 }
  - { at: 6s, for: 700ms, kill: n1 }
`
	for name, c := range map[string]struct{ text, image string }{
		"redis single": {"lock: { use: redis/single, ttl: 1s }\ncluster: { nodes: 1, persistence: aof-always }" + faults, redis},
		// What a server that keeps nothing forgets is no matter of these servers: a majority has it.
		"redis redlock":     {"lock: { use: redis/redlock, ttl: 1s }\ncluster: { nodes: 3, persistence: aof-always }" + faults + "  - { at: 8s, for: 1s, clock: { of: n2, jump: +300ms } }\n", redis},
		"postgres advisory": {"lock: { use: postgres/advisory }\ncluster: { nodes: 1 }" + faults, postgres},
	} {
		t.Run(name, func(t *testing.T) {
			path, dir := filepath.Join(t.TempDir(), "s.yaml"), t.TempDir()
			head := "version: 1\nname: docker\nclients: { count: 3 }\nworkload: { use: counter, hold: 5ms..40ms, wait: 500ms }\nrun: { duration: 14s, settle: 4s, seed: 3 }\nevidence: { min-acquires: 30 }\n"
			if err := os.WriteFile(path, []byte(head+c.text), 0o644); err != nil {
				t.Fatal(err)
			}
			r := locktest(t, "run", path, "--on", "docker", "--set", "cluster.image="+c.image, "--run-dir", dir)
			if r.status != 0 || !strings.Contains(r.stdout, c.image+", ") || !strings.Contains(r.stdout, "(Docker ") {
				t.Fatalf("status %d\n%s\n%s", r.status, r.stdout, r.stderr)
			}
			if left := containersLeft(t); len(left) > 0 {
				t.Errorf("containers are left: %v", left)
			}
			run := filepath.Join(dir, "latest")
			if log, err := os.ReadFile(filepath.Join(run, "logs", "n1.log")); err != nil || len(log) == 0 {
				t.Errorf("the log of n1: %v, %d bytes", err, len(log))
			}
			wantFaults(t, filepath.Join(run, "history.jsonl"), strings.Count(c.text, "{ at:"))
		})
	}
}

// wantFaults checks that so many faults began, and ended as they were meant to.
func wantFaults(t *testing.T, file string, want int) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	h, err := history.ReadJSONL(f)
	if err != nil {
		t.Fatal(err)
	}
	began, ended := 0, 0
	for _, op := range h.Ops {
		switch op.Type {
		case history.FaultBegin:
			began++
		case history.FaultEnd:
			ended++
			if op.Error != "" {
				t.Errorf("a fault was not healed: %s", op.Error)
			}
		}
	}
	if began != want || ended != want {
		t.Errorf("%d faults began and %d ended, want %d", began, ended, want)
	}
}

func TestDockerRefusals(t *testing.T) {
	on := func(text string, args ...string) result {
		return locktest(t, append([]string{"run", scenario(t, text), "--on", "docker", "--run-dir", t.TempDir(), "--json"}, args...)...)
	}
	for name, c := range map[string]struct {
		r     result
		code  string
		words string
	}{
		"nodes that talk":         {on("lock: { use: redis/replicated }\n"), "LT104", "talk to each other"},
		"no image of this server": {on("lock: { use: zookeeper/ephemeral }\ncluster: { nodes: 1 }\n"), "LT104", "can't run in containers"},
		"an earlier state":        {on(onRedis + "cluster: { persistence: aof-everysec }\nfaults: [{ at: 200ms, for: 200ms, kill: { of: n1, restart: prefix } }]\n"), "LT105", "prefix"},
		"no such image":           {on(onRedis, "--set", "cluster.image=127.0.0.1:9/nobody/redis:none"), "LT107", "127.0.0.1:9/nobody/redis:none"},
	} {
		t.Run(name, func(t *testing.T) {
			var doc struct {
				Error struct{ Code, Message string }
			}
			if err := json.Unmarshal([]byte(c.r.stdout), &doc); err != nil {
				t.Fatal(err)
			}
			if doc.Error.Code != c.code || !strings.Contains(c.r.stdout, c.words) || !slices.Contains([]int{65, 69}, c.r.status) {
				t.Errorf("status %d, want %s with %q\n%s", c.r.status, c.code, c.words, c.r.stdout)
			}
		})
	}
}

// Containers of a harness that was killed with its supervisor are removed, a paused one too; those of a run that lives stay.
func TestDockerDoctorCleans(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	image := dockertest.Redis(t)
	on := []string{"run", longRun(t), "--on", "docker", "--set", "cluster.image=" + image} // its fault is a pause of n1
	doomed, _ := start(t, t.TempDir(), "fault 1 begins", on...)
	living, _ := start(t, t.TempDir(), "fault 1 begins", on...)
	for _, p := range family(t, doomed.Process.Pid) {
		if strings.Contains(p.command, "__supervise") {
			pid, _ := strconv.Atoi(p.pid)
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := doomed.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	doomed.Wait()
	if left := containersLeft(t); len(left) != 2 {
		t.Fatalf("containers: %v; nothing is tested", left)
	}
	r := locktest(t, "doctor", "--clean")
	if r.status != 0 || strings.Count(r.stdout, "removed container ") != 1 {
		t.Errorf("status %d\n%s\n%s", r.status, r.stdout, r.stderr)
	}
	if left := containersLeft(t); len(left) != 1 {
		t.Errorf("containers: %v, want the living run's", left)
	}
	if r := locktest(t, "doctor", "--need", "redis/docker"); r.status != 0 {
		t.Errorf("status %d\n%s", r.status, r.stdout)
	}
	if err := living.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	living.Wait()
	if left := containersLeft(t); len(left) != 0 {
		t.Errorf("a run that ended left %v", left)
	}
}

// Where the reaper is wanted and its image can't be had, the error says how to do without.
func TestDockerReaperWithoutAnImage(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "run", scenario(t, onRedis), "--on", "docker", "--set", "cluster.image="+dockertest.Redis(t), "--run-dir", t.TempDir())
	cmd.Env = append(os.Environ(), mainArg+"=1", "TESTCONTAINERS_RYUK_DISABLED=false", "TESTCONTAINERS_HUB_IMAGE_NAME_PREFIX=127.0.0.1:9/nobody")
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "LT107") || !strings.Contains(string(out), "TESTCONTAINERS_RYUK_DISABLED=true") {
		t.Errorf("%v\n%s", err, out)
	}
	if left := containersLeft(t); len(left) != 0 {
		t.Errorf("containers are left: %v", left)
	}
}

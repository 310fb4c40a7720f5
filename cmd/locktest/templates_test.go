package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// top is the repository's root.
const top = "../.."

// texts are all the texts of a YAML file below any of these keys, in their order.
func texts(t *testing.T, path string, keys ...string) []string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(top, path))
	if err != nil {
		t.Fatal(err)
	}
	var doc yaml.MapSlice
	if err := yaml.UnmarshalWithOptions(b, &doc, yaml.UseOrderedMap()); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	var out []string
	var walk func(v any, on bool)
	walk = func(v any, on bool) {
		switch v := v.(type) {
		case yaml.MapSlice:
			for _, item := range v {
				walk(item.Value, slices.Contains(keys, fmt.Sprint(item.Key)))
			}
		case []any:
			for _, item := range v {
				walk(item, on)
			}
		case string:
			if on {
				out = append(out, v)
			}
		}
	}
	walk(doc, false)
	return out
}

// scripts are the commands of the templates.
func scripts(t *testing.T) map[string][]string {
	return map[string][]string{
		"templates/github.yml":    texts(t, "templates/github.yml", "run"),
		"templates/gitlab.yml":    texts(t, "templates/gitlab.yml", "before_script", "script"),
		"templates/buildkite.yml": texts(t, "templates/buildkite.yml", "commands"),
	}
}

// The command that a template runs is one that this program takes, and refuses commands of scenarios.
func TestTemplatesRun(t *testing.T) {
	line := regexp.MustCompile(`(?m)locktest"? run (.*)$`)
	for name, list := range scripts(t) {
		m := line.FindStringSubmatch(strings.Join(list, "\n"))
		if m == nil {
			t.Errorf("%s runs nothing", name)
			continue
		}
		command, _, _ := strings.Cut(m[1], " || ")
		command = strings.NewReplacer(`"$REPEAT"`, "5", "scenarios/*.yaml", "quickstart").Replace(command)
		if !strings.Contains(command, "--no-exec") || !strings.Contains(m[1], "scenarios/*.yaml") {
			t.Errorf("%s: %s", name, m[1])
		}
		args := append(append([]string{"run"}, strings.Fields(command)...), "--dry-run")
		if r := locktest(t, args...); r.status != 0 {
			t.Errorf("%s: %v: status %d\n%s", name, args, r.status, r.stderr)
		}
	}
}

func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=t", "-c", "user.email=t@localhost"}, args...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// The templates' own commands bring the base branch's scenarios back, and none that a pull request adds.
func TestTemplatesTakeTheBaseBranch(t *testing.T) {
	variables := map[string]string{"templates/github.yml": "BASE", "templates/gitlab.yml": "CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "templates/buildkite.yml": "BUILDKITE_PULL_REQUEST_BASE_BRANCH"}
	for name, list := range scripts(t) {
		t.Run(filepath.Base(name), func(t *testing.T) {
			origin, work := t.TempDir(), filepath.Join(t.TempDir(), "work")
			git(t, origin, "init", "-q", "-b", "main")
			git(t, origin, "config", "uploadpack.allowAnySHA1InWant", "true")
			put(t, filepath.Join(origin, "scenarios/a.yaml"), "base")
			git(t, origin, "add", ".")
			git(t, origin, "commit", "-qm", "base")
			git(t, origin, "branch", "pr")
			git(t, ".", "clone", "-q", "-b", "pr", origin, work)
			put(t, filepath.Join(work, "scenarios/a.yaml"), "changed")
			put(t, filepath.Join(work, "scenarios/evil.yaml"), "exec")
			put(t, filepath.Join(work, "lock.go"), "the change that is tested")
			git(t, work, "add", ".")
			git(t, work, "commit", "-qm", "change")

			i := slices.IndexFunc(list, func(s string) bool { return strings.Contains(s, "git checkout") })
			if i < 0 {
				t.Fatal("no command takes the base branch's scenarios")
			}
			script := strings.ReplaceAll(list[i], "$$", "$") // Buildkite's own escape
			cmd := exec.Command("sh", "-euc", script)
			cmd.Dir, cmd.Env = work, append(os.Environ(), variables[name]+"=main")
			if variables[name] == "BASE" {
				out, err := exec.Command("git", "-C", origin, "rev-parse", "main").Output()
				if err != nil {
					t.Fatal(err)
				}
				cmd.Env = append(os.Environ(), "BASE="+strings.TrimSpace(string(out)))
			}
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if b, err := os.ReadFile(filepath.Join(work, "scenarios/a.yaml")); err != nil || string(b) != "base" {
				t.Errorf("%v: the scenario is %q", err, b)
			}
			if _, err := os.Stat(filepath.Join(work, "scenarios/evil.yaml")); err == nil {
				t.Error("a scenario that the pull request adds is still there")
			}
			if _, err := os.Stat(filepath.Join(work, "lock.go")); err != nil {
				t.Error("the change that is to be tested is gone")
			}
		})
	}
}

// The action installs, and runs nothing.
func TestActionOnlyInstalls(t *testing.T) {
	steps := texts(t, "action.yml", "run")
	if len(steps) != 1 || !strings.Contains(steps[0], "templates/install.sh") || regexp.MustCompile(`locktest (run|check)`).MatchString(steps[0]) {
		t.Errorf("%q", steps)
	}
	if strings.Contains(steps[0], "${{") {
		t.Error("an expression stands in a script, where its value would be read as commands")
	}
}

// The installer takes what its checksum says, and nothing else.
func TestInstall(t *testing.T) {
	name := fmt.Sprintf("locktest_v1.2.3_%s_%s", runtime.GOOS, runtime.GOARCH)
	const program = "#!/bin/sh\necho installed\n"
	sum := fmt.Sprintf("%x  %s\n", sha256.Sum256([]byte(program)), name)
	for title, c := range map[string]struct {
		sums, says string
		fails      bool
	}{
		"the right one":     {sums: sum},
		"a tampered one":    {sums: fmt.Sprintf("%064d  %s\n", 7, name), fails: true},
		"one without a sum": {sums: strings.Replace(sum, name, "locktest_other", 1), says: "does not name", fails: true},
	} {
		t.Run(title, func(t *testing.T) {
			releases, bin := t.TempDir(), t.TempDir()
			put(t, filepath.Join(releases, "v1.2.3", name), program)
			put(t, filepath.Join(releases, "v1.2.3", "SHA256SUMS"), c.sums)
			cmd := exec.Command("sh", filepath.Join(top, "templates/install.sh"))
			cmd.Env = append(os.Environ(), "LOCKTEST_VERSION=v1.2.3", "LOCKTEST_BIN="+bin, "LOCKTEST_RELEASES=file://"+releases)
			out, err := cmd.CombinedOutput()
			if (err != nil) != c.fails || !strings.Contains(string(out), c.says) {
				t.Fatalf("%v\n%s", err, out)
			}
			got, err := exec.Command(filepath.Join(bin, "locktest")).Output()
			if c.fails && err == nil {
				t.Error("it is installed all the same")
			}
			if !c.fails && string(got) != "installed\n" {
				t.Errorf("%v: %s", err, got)
			}
		})
	}
}

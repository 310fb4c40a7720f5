package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/locktest/locktest/internal/proc"
)

func TestDoctorSaysWhatIsThere(t *testing.T) {
	t.Setenv("LOCKTEST_REDIS_SERVER", "/nowhere/redis-server")
	t.Setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
	r := locktest(t, "doctor", "--json")
	var doc struct {
		Schema string
		Exit   int
		Found  []struct {
			Name, About string
			OK          bool
			Fix         []string
		}
	}
	if err := json.Unmarshal([]byte(r.stdout), &doc); err != nil || r.status != 0 || doc.Schema != "locktest.doctor/1" {
		t.Fatalf("status %d, %v\n%s", r.status, err, r.stdout)
	}
	want := map[string]bool{"redis/process": false, "redis/docker": false, "postgres/docker": false, "redis/embedded": true, "etcd/embedded": true, "postgres/process": true, "zookeeper/process": true, "pooler": true}
	text := locktest(t, "doctor").stdout
	for _, f := range doc.Found {
		if ok, known := want[f.Name]; known && ok != f.OK {
			t.Errorf("%s is %v: %s", f.Name, f.OK, f.About)
		}
		delete(want, f.Name)
		state := map[bool]string{true: "ok       ", false: "missing  "}[f.OK]
		if !strings.Contains(text, state+f.Name) || f.About == "" || f.OK != (len(f.Fix) == 0) {
			t.Errorf("%s isn't told so: %+v\n%s", f.Name, f, text)
		}
	}
	if len(want) > 0 {
		t.Errorf("nothing is said of %v", want)
	}
	if !strings.Contains(text, "mend: apt install redis-server") {
		t.Errorf("it doesn't say what mends a missing redis-server:\n%s", text)
	}
}

func TestDoctorNeed(t *testing.T) {
	t.Setenv("LOCKTEST_REDIS_SERVER", "/nowhere/redis-server")
	for name, c := range map[string]struct {
		args   []string
		status int
		words  string
	}{
		"it is there":     {[]string{"--need", "redis/embedded"}, 0, ""},
		"it is missing":   {[]string{"--need", "redis/embedded", "--need", "redis/process"}, 69, "missing: redis/process"},
		"quiet":           {[]string{"--need", "redis/process", "-q"}, 69, "missing  redis/process"},
		"no such thing":   {[]string{"--need", "redis/sim"}, 64, "redis/process"},
		"as one document": {[]string{"--need", "redis/process", "--json"}, 69, `"missing": [`},
	} {
		t.Run(name, func(t *testing.T) {
			r := locktest(t, append([]string{"doctor"}, c.args...)...)
			if r.status != c.status || !strings.Contains(r.stdout+r.stderr, c.words) {
				t.Errorf("status %d, want %d with %q\n%s\n%s", r.status, c.status, c.words, r.stdout, r.stderr)
			}
		})
	}
}

// straying leaves a process behind that no parent, group or death signal ties to the harness.
func straying(t *testing.T, file string) string {
	t.Helper()
	path := longRun(t)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(string(b), "pause: n1", `exec: { inject: [sh, -c, "setsid sh -c 'echo $$ >`+file+`; exec sleep 3600' & until test -s `+file+`; do sleep 0.01; done"] }`, 1)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// await reads the number that a command has written.
func await(t *testing.T, file string) string {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if b, err := os.ReadFile(file); err == nil && strings.HasSuffix(string(b), "\n") {
			return strings.TrimSpace(string(b))
		}
	}
	t.Fatalf("%s was never written", file)
	return ""
}

func lives(t *testing.T, pid string) bool {
	t.Helper()
	n, err := strconv.Atoi(pid)
	if err != nil {
		t.Fatal(err)
	}
	alive, err := proc.Lives(proc.Ident(n))
	if err != nil {
		t.Fatal(err)
	}
	return alive
}

// settled are the folders in tmp once none came or went for a while: a run that starts has some only for a moment.
func settled(t *testing.T, tmp string) []string {
	t.Helper()
	folders := owned(t, tmp)
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); {
		time.Sleep(300 * time.Millisecond)
		now := owned(t, tmp)
		if slices.Equal(folders, now) {
			return now
		}
		folders = now
	}
	t.Fatalf("folders come and go: %v", folders)
	return nil
}

// A harness that was killed with its supervisor leaves what doctor removes; what another run has is not touched.
func TestDoctorCleansAfterTheDeadAlone(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	files := t.TempDir()
	doomed, _ := start(t, t.TempDir(), "fault 1 begins", "run", straying(t, filepath.Join(files, "doomed")))
	living, _ := start(t, t.TempDir(), "fault 1 begins", "run", straying(t, filepath.Join(files, "living")))
	stray, kept := await(t, filepath.Join(files, "doomed")), await(t, filepath.Join(files, "living"))

	for _, p := range family(t, doomed.Process.Pid) { // the supervisor first: it would clean up itself
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
	if !lives(t, stray) {
		t.Fatal("the stray process is gone already: nothing is tested")
	}
	before := settled(t, tmp)
	household := family(t, living.Process.Pid)

	r := locktest(t, "doctor", "--clean")
	if r.status != 0 || !strings.Contains(r.stdout, fmt.Sprintf("removed process %s (sleep 3600)", stray)) {
		t.Errorf("status %d\n%s\n%s", r.status, r.stdout, r.stderr)
	}
	if lives(t, stray) {
		t.Error("the stray process lives")
	}
	if !lives(t, kept) || len(left(household)) != len(household) {
		t.Errorf("of the run that lives, there is %v of %v left, and its stray process: %v", left(household), household, lives(t, kept))
	}
	after := owned(t, tmp)
	if len(before) != len(after)+1 || slices.ContainsFunc(after, func(d string) bool { return !strings.Contains(d, fmt.Sprintf("-%d-", living.Process.Pid)) }) {
		t.Errorf("folders: %v, then %v; the run that lives has pid %d", before, after, living.Process.Pid)
	}
	if r := locktest(t, "doctor", "--clean", "--json"); r.status != 0 || !strings.Contains(r.stdout, `"removed": []`) {
		t.Errorf("again: status %d\n%s\n%s", r.status, r.stdout, r.stderr)
	}
	if err := living.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	living.Wait()
	if lives(t, kept) {
		t.Error("a run that ended left its stray process")
	}
}

// owned are the folders of runs.
func owned(t *testing.T, tmp string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(tmp, "locktest-of-*"))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

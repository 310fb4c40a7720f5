package nemesis_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/cluster/clustertest"
	"github.com/locktest/locktest/internal/proc"
	"github.com/locktest/locktest/nemesis"
)

// withShell lets commands be run; it returns their log.
func (b *bench) withShell() string {
	b.t.Helper()
	log := filepath.Join(b.t.TempDir(), "logs", "exec.log")
	b.env.Shell = &nemesis.Shell{Spawner: clustertest.Spawner(b.t), Run: "7f3a", Log: log, Redact: func(text string) string { return strings.ReplaceAll(text, "hunter22", "***") }}
	return log
}

func stopAndGo(target nemesis.Target) *nemesis.Exec {
	return nemesis.NewExec(nemesis.ExecSpec{Of: target, Inject: []string{"sh", "-c", "echo stop $LOCKTEST_TARGETS at $LOCKTEST_ADDRS in run $LOCKTEST_RUN hunter22; kill -STOP $LOCKTEST_PIDS"},
		Heal: []string{"sh", "-c", "echo $LOCKTEST_FAULT $LOCKTEST_TARGETS; kill -CONT $LOCKTEST_PIDS"}})
}

// Commands of one's own stop a real server and let it go on.
func TestExecOnARealServer(t *testing.T) {
	b := newBench(t, nil)
	log := b.withShell()
	c := b.client("c1", "n1")
	check(t, c.Ping(b.ctx).Err())
	i := b.inject(stopAndGo(target("n1")))
	if strings.Join(i.Targets, " ") != "n1" || !strings.Contains(i.Text, "for n1") {
		t.Errorf("targets %v, %s", i.Targets, i.Text)
	}
	answer := b.set(c, "k")
	b.wantSilence(answer)
	check(t, b.client("c1", "n2").Ping(b.ctx).Err())
	check(t, i.Heal(b.ctx))
	check(t, <-answer)
	check(t, i.Heal(b.ctx))
	text, err := os.ReadFile(log)
	check(t, err)
	for _, want := range []string{"stop n1 at " + b.env.Nodes[0].Addr() + " in run 7f3a ***\n", "heal n1\n"} {
		if strings.Count(string(text), want) != 1 {
			t.Errorf("the log has not once %q:\n%s", want, text)
		}
	}
	if strings.Contains(string(text), "hunter22") {
		t.Errorf("a secret is in the log:\n%s", text)
	}
}

// Healing has a time of its own: the context of the run may be over.
func TestExecHealsOnADeadContext(t *testing.T) {
	b := newBench(t, nil)
	b.withShell()
	c := b.client("c1", "n1")
	i := b.inject(stopAndGo(target("n1")))
	dead, cancel := context.WithCancel(context.Background())
	cancel()
	check(t, i.Heal(dead))
	check(t, c.Ping(b.ctx).Err())
}

// What failed half-way is healed at once.
func TestExecThatFailsHalfWay(t *testing.T) {
	b := newBench(t, nil)
	b.withShell()
	c := b.client("c1", "n1")
	check(t, c.Ping(b.ctx).Err())
	_, err := nemesis.NewExec(nemesis.ExecSpec{Of: target("n1"), Inject: []string{"sh", "-c", "kill -STOP $LOCKTEST_PIDS; exit 3"}, Heal: []string{"sh", "-c", "kill -CONT $LOCKTEST_PIDS"}}).Inject(b.ctx, b.env)
	if err == nil || !strings.Contains(err.Error(), "exited with status 3") {
		t.Errorf("Inject() = %v", err)
	}
	check(t, c.Ping(b.ctx).Err())
}

// A command whose time is over is killed with all that it started, and what it has done is healed.
func TestExecWithoutAnEnd(t *testing.T) {
	b := newBench(t, nil)
	b.withShell()
	dir := t.TempDir()
	child := filepath.Join(dir, "child")
	began := 0
	b.env.Begin = func(targets []string, _ string) { began++ }
	_, err := nemesis.NewExec(nemesis.ExecSpec{Inject: []string{"sh", "-c", "sleep 3600 & echo $! >" + child + "; wait"}, Heal: []string{"touch", filepath.Join(dir, "healed")}, Limit: time.Second}).Inject(b.ctx, b.env)
	if err == nil || !strings.Contains(err.Error(), "longer than 1s, and was killed") {
		t.Errorf("Inject() = %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "healed")); err != nil || began != 1 {
		t.Errorf("began %d times, healed: %v", began, err)
	}
	text, err := os.ReadFile(child)
	check(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	check(t, err)
	b.eventually("the command's child is dead", func() bool {
		alive, err := proc.Lives(proc.Ident(pid))
		return err == nil && !alive
	})
}

// Healing that failed is tried again.
func TestExecHealingThatFailsOnce(t *testing.T) {
	b := newBench(t, nil)
	b.withShell()
	mark := filepath.Join(t.TempDir(), "mark")
	i := b.inject(nemesis.NewExec(nemesis.ExecSpec{Inject: []string{"true"}, Heal: []string{"sh", "-c", "test -e " + mark + " || { touch " + mark + "; exit 1; }"}}))
	if err := i.Heal(b.ctx); err == nil {
		t.Error("the first healing went well")
	}
	check(t, i.Heal(b.ctx))
}

func TestExecChecks(t *testing.T) {
	b := newBench(t, nil)
	for name, c := range map[string]struct {
		spec nemesis.ExecSpec
		want string
	}{
		"no command":     {nemesis.ExecSpec{}, "no command"},
		"no program":     {nemesis.ExecSpec{Inject: []string{"no-such-program"}}, "no-such-program"},
		"no healer":      {nemesis.ExecSpec{Inject: []string{"true"}, Heal: []string{"no-such-program"}}, "no-such-program"},
		"no such target": {nemesis.ExecSpec{Of: target("n9"), Inject: []string{"true"}}, "n9"},
	} {
		if err := nemesis.NewExec(c.spec).Check(b.env); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: Check() = %v", name, err)
		}
	}
	if _, err := nemesis.NewExec(nemesis.ExecSpec{Inject: []string{"true"}}).Inject(b.ctx, b.env); err == nil {
		t.Error("a command was run where none can be")
	}
	b.withShell()
	if err := b.env.Nodes[0].(cluster.Killer).Kill(b.ctx); err != nil {
		t.Fatal(err)
	}
	i := b.inject(nemesis.NewExec(nemesis.ExecSpec{Of: target("n1"), Inject: []string{"sh", "-c", `test -z "$LOCKTEST_PIDS"`}}))
	check(t, i.Heal(b.ctx))
}

package vclock

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// The test binary is also the process whose clock is shifted: it answers each line with its wall and monotonic time.
func TestMain(m *testing.M) {
	if os.Getenv("LOCKTEST_TEST_CLOCK") == "" {
		os.Exit(m.Run())
	}
	begin := time.Now()
	for sc := bufio.NewScanner(os.Stdin); sc.Scan(); {
		now := time.Now()
		fmt.Println(now.Round(0).UnixNano(), int64(now.Sub(begin)))
	}
}

// watch is such a process.
type watch struct {
	t   *testing.T
	cmd *exec.Cmd
	ask func() (wall time.Time, mono time.Duration)
}

func newWatch(t *testing.T) *watch {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), "LOCKTEST_TEST_CLOCK=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	sc := bufio.NewScanner(out)
	return &watch{t, cmd, func() (time.Time, time.Duration) {
		t.Helper()
		fmt.Fprintln(in)
		if !sc.Scan() {
			t.Fatal("the process has ended")
		}
		var wall, mono int64
		if _, err := fmt.Sscan(strings.TrimSpace(sc.Text()), &wall, &mono); err != nil {
			t.Fatal(err)
		}
		return time.Unix(0, wall), time.Duration(mono)
	}}
}

func (w *watch) attach() *Clock {
	w.t.Helper()
	c, err := Attach(w.t.Context(), w.cmd.Process.Pid)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { c.Close() })
	return c
}

// near allows for a slow machine: offsets in these tests are far larger.
func near(d time.Duration) bool { return d > -20*time.Second && d < 20*time.Second }

func TestWallClockAlone(t *testing.T) {
	w := newWatch(t)
	c := w.attach()
	for _, offset := range []time.Duration{time.Hour, -time.Hour, 0} {
		_, mono := w.ask()
		if err := c.Set(Offset{Wall: offset}); err != nil {
			t.Fatal(err)
		}
		wall, later := w.ask()
		if !near(time.Until(wall) - offset) {
			t.Errorf("offset %v: the process's clock is %v ahead", offset, time.Until(wall))
		}
		if later < mono || !near(later-mono) {
			t.Errorf("offset %v: the monotonic clock went from %v to %v", offset, mono, later)
		}
	}
}

func TestMonotonicClockAlone(t *testing.T) {
	w := newWatch(t)
	c := w.attach()
	_, before := w.ask()
	if err := c.Set(Offset{Monotonic: time.Hour}); err != nil {
		t.Fatal(err)
	}
	wall, after := w.ask()
	if !near(after - before - time.Hour) {
		t.Errorf("the monotonic clock went from %v to %v", before, after)
	}
	if !near(time.Until(wall)) {
		t.Errorf("the wall clock is %v ahead", time.Until(wall))
	}
	if err := c.Set(Offset{}); err == nil || c.Now().Monotonic != time.Hour {
		t.Error("the monotonic clock was let run backwards")
	}
}

func TestAttachTwiceKeepsTheOffset(t *testing.T) {
	w := newWatch(t)
	if err := w.attach().Set(Offset{Wall: time.Hour, Monotonic: time.Minute}); err != nil {
		t.Fatal(err)
	}
	again := w.attach()
	if got := again.Now(); got != (Offset{Wall: time.Hour, Monotonic: time.Minute}) {
		t.Errorf("offset %+v", got)
	}
	if err := again.Set(Offset{Wall: -time.Hour, Monotonic: time.Minute}); err != nil {
		t.Fatal(err)
	}
	if wall, _ := w.ask(); !near(time.Until(wall) + time.Hour) {
		t.Errorf("the process's clock is %v ahead", time.Until(wall))
	}
}

func TestNoSuchProcess(t *testing.T) {
	if _, err := Attach(t.Context(), 1<<30); err == nil {
		t.Error("a process that isn't there was patched")
	}
}

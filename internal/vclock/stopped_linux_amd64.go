package vclock

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// stopped calls do while every thread of the process stands still and none inside a place that is about to change.
func stopped(ctx context.Context, pid int, avoid []int64, do func() error) error {
	already := state(fmt.Sprintf("/proc/%d/task/%d", pid, pid)) == 'T'
	if !already {
		defer syscall.Kill(pid, syscall.SIGCONT)
	}
	for {
		if err := stop(ctx, pid); err != nil {
			return err
		}
		if clear, err := standsClear(pid, avoid); err != nil {
			return err
		} else if clear {
			return do()
		}
		if already {
			return errors.New("it was stopped while it looked at the clock: try again once it runs")
		}
		if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
			return err
		}
		if err := pause(ctx, time.Millisecond); err != nil {
			return fmt.Errorf("one of its threads is always looking at the clock: %w", err)
		}
	}
}

// stop sends SIGSTOP and waits until each thread has stopped.
func stop(ctx context.Context, pid int) error {
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		return err
	}
	for {
		tasks, err := threads(pid)
		if err != nil {
			return err
		}
		still := true
		for _, t := range tasks {
			switch state(t) {
			case 'T', 't', 'X', 'Z':
			default:
				still = false
			}
		}
		if still {
			return nil
		}
		if err := pause(ctx, 200*time.Microsecond); err != nil {
			return fmt.Errorf("its threads don't stop: %w", err)
		}
	}
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func threads(pid int) ([]string, error) {
	return filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
}

// state is the letter in a thread's stat file; X when it is gone.
func state(task string) byte {
	b, _ := os.ReadFile(task + "/stat")
	i := bytes.LastIndexByte(b, ')')
	if i < 0 || i+2 >= len(b) {
		return 'X'
	}
	return b[i+2]
}

// standsClear says whether no thread's next instruction lies within the bytes that a jump replaces.
func standsClear(pid int, avoid []int64) (bool, error) {
	tasks, err := threads(pid)
	if err != nil {
		return false, err
	}
	for _, t := range tasks {
		b, err := os.ReadFile(t + "/syscall")
		f := strings.Fields(string(b))
		if err != nil || len(f) == 0 {
			continue // the thread is gone
		}
		at, err := strconv.ParseUint(strings.TrimPrefix(f[len(f)-1], "0x"), 16, 64)
		if err != nil {
			return false, nil // "running": it has not quite stopped
		}
		for _, a := range avoid {
			if int64(at) > a && int64(at) < a+jumpLen {
				return false, nil
			}
		}
	}
	return true, nil
}

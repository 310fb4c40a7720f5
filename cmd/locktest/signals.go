package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/locktest/locktest/runner"
)

// signals ends the context on the first SIGINT or SIGTERM, and the program on the second: the supervisor then kills what
// is left.
func (a *app) signals(ctx context.Context, timeout time.Duration) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	ch := make(chan os.Signal, 2)
	signal.Notify(ch, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	var late <-chan time.Time
	if timeout > 0 {
		late = time.After(timeout)
	}
	end := make(chan struct{})
	go func() {
		for n := 0; ; {
			select {
			case s := <-ch:
				if n++; n == 2 {
					fmt.Fprintln(a.stderr, "locktest: left at once; servers and clients are being killed")
					os.Exit(statusOfSignal(s))
				}
				cancel(runner.Interrupt(nameOf(s)))
			case <-late:
				cancel(runner.Interrupt(fmt.Sprintf("--timeout %v", timeout)))
			case <-end:
				return
			}
		}
	}()
	return ctx, func() {
		signal.Stop(ch)
		close(end)
		cancel(nil)
	}
}

func nameOf(s os.Signal) string {
	switch s {
	case syscall.SIGTERM:
		return "SIGTERM"
	case syscall.SIGHUP:
		return "SIGHUP"
	}
	return "SIGINT"
}

func statusOfSignal(s os.Signal) int {
	if s == syscall.SIGTERM {
		return exitTerminate
	}
	return exitInterrupt
}

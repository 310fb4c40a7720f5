package locks_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locktest/locktest/locks"
	"github.com/locktest/locktest/locks/memory"
)

func open(t *testing.T, p locks.Provider, name string) locks.Client {
	t.Helper()
	c, err := p.Open(t.Context(), locks.Target{Client: name})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

var request = locks.Request{Name: "orders", TTL: time.Second, Wait: 100 * time.Millisecond}

func TestWith(t *testing.T) {
	failed := errors.New("the work failed")
	for name, c := range map[string]struct {
		held    bool // by somebody else
		section func(context.Context, locks.Lock) error
		want    []error
		text    string
	}{
		"the section's result":    {section: func(context.Context, locks.Lock) error { return nil }},
		"the section's error":     {section: func(context.Context, locks.Lock) error { return failed }, want: []error{failed}},
		"busy":                    {held: true, section: func(context.Context, locks.Lock) error { return failed }, want: []error{locks.ErrHeld}},
		"a panic is an error":     {section: func(context.Context, locks.Lock) error { panic("no paper") }, text: "panic in the section: no paper"},
		"the lease ended":         {section: func(ctx context.Context, _ locks.Lock) error { <-ctx.Done(); return context.Cause(ctx) }, want: []error{locks.ErrLost}},
		"the lease ended unseen":  {section: func(context.Context, locks.Lock) error { time.Sleep(2 * time.Second); return nil }, want: []error{locks.ErrLost}},
		"released by the section": {section: func(ctx context.Context, l locks.Lock) error { return l.Release(ctx) }, want: []error{locks.ErrNotHeld}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := memory.NewLease()
				if c.held {
					if _, err := open(t, p, "c2").Acquire(t.Context(), request); err != nil {
						t.Fatal(err)
					}
				}
				var out bytes.Buffer
				err := locks.With(t.Context(), open(t, p, "c1"), request, locks.LogHooks(slog.New(slog.NewTextHandler(&out, nil))), c.section)
				for _, want := range c.want {
					if !errors.Is(err, want) {
						t.Errorf("%v, want %v", err, want)
					}
				}
				if c.text != "" && !strings.Contains(fmt.Sprint(err), c.text) {
					t.Errorf("%v, want %s", err, c.text)
				}
				if len(c.want) == 0 && c.text == "" && err != nil {
					t.Error(err)
				}
				if lines := strings.Count(out.String(), "\n"); lines != 2 && !c.held || lines != 1 && c.held {
					t.Errorf("the hooks wrote\n%s", out.String())
				}
				if c.held {
					return
				}
				if _, err := open(t, p, "c3").Acquire(t.Context(), locks.Request{Name: "orders", TTL: time.Second}); err != nil {
					t.Errorf("after it: %v, want it free", err)
				}
			})
		})
	}
}

// With a context that has ended the lock is released all the same.
func TestWithReleasesOnItsOwnTime(t *testing.T) {
	p := memory.NewLease()
	ctx, cancel := context.WithCancel(t.Context())
	err := locks.With(ctx, open(t, p, "c1"), request, locks.Hooks{}, func(ctx context.Context, _ locks.Lock) error {
		cancel()
		return ctx.Err()
	})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := open(t, p, "c2").Acquire(t.Context(), locks.Request{Name: "orders", TTL: time.Second}); err != nil {
		t.Errorf("after it: %v, want it free", err)
	}
}

func TestKeep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, err := open(t, memory.NewLease(), "c1").Acquire(t.Context(), request)
		if err != nil {
			t.Fatal(err)
		}
		k := locks.Keep(l, time.Second, 300*time.Millisecond)
		for range 10 {
			if until := <-k.Renewed(); !until.Equal(k.ValidUntil()) || time.Until(until) <= 0 {
				t.Fatalf("renewed until %v, valid until %v", until, k.ValidUntil())
			}
		}
		k.PauseRenewal(true)
		paused := time.Now()
		<-k.Lost()
		if took := time.Since(paused); took > time.Second {
			t.Errorf("the loss was told after %v, of a lease of 1 s", took)
		}
		if err := k.Release(t.Context()); !errors.Is(err, locks.ErrNotHeld) {
			t.Errorf("release: %v", err)
		}
	})
}

// After a release nothing is renewed any more.
func TestKeepEndsWithTheRelease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := memory.NewLease()
		l, err := open(t, p, "c1").Acquire(t.Context(), request)
		if err != nil {
			t.Fatal(err)
		}
		k := locks.Keep(l, time.Second, 100*time.Millisecond)
		<-k.Renewed()
		if err := k.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := open(t, p, "c2").Acquire(t.Context(), locks.Request{Name: "orders", TTL: time.Second}); err != nil {
			t.Error(err)
		}
		for range k.Renewed() {
		}
		select {
		case <-k.Lost():
			t.Error("a loss was told after the release")
		default:
		}
	})
}

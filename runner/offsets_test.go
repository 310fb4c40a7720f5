package runner

import (
	"context"
	"errors"
	"testing"
	"time"
)

type clock struct {
	ahead time.Duration
	err   error
	hangs bool
}

func (c clock) HasTime() error { return nil }

func (c clock) Time(ctx context.Context) (time.Time, error) {
	if c.hangs {
		<-ctx.Done()
	}
	return time.Now().Add(c.ahead).Round(0), c.err
}

func TestOffsetOf(t *testing.T) {
	for name, c := range map[string]struct {
		clock clock
		ok    bool
	}{
		"ahead":              {clock{ahead: time.Hour}, true},
		"behind":             {clock{ahead: -time.Hour}, true},
		"down":               {clock{err: errors.New("refused")}, false},
		"too late an answer": {clock{hangs: true}, false},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := offsetOf(t.Context(), c.clock)
			if ok != c.ok {
				t.Fatalf("read: %v", ok)
			}
			if off := got - c.clock.ahead; ok && (off < -offsetLimit || off > offsetLimit) {
				t.Errorf("offset %v, want %v", got, c.clock.ahead)
			}
		})
	}
}

package etcd

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestNearest(t *testing.T) {
	second := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	for name, c := range map[string]struct{ now, want time.Duration }{
		"within":        {300 * time.Millisecond, 300 * time.Millisecond},
		"at its start":  {0, 0},
		"ahead of us":   {-20 * time.Second, 0},
		"behind us":     {20 * time.Second, time.Second - time.Nanosecond},
		"just after it": {time.Second, time.Second - time.Nanosecond},
	} {
		t.Run(name, func(t *testing.T) {
			if got := nearest(second, second.Add(c.now)); got.Sub(second) != c.want {
				t.Errorf("nearest() is %v into the second, want %v", got.Sub(second), c.want)
			}
		})
	}
}

func TestClockReadsTheDate(t *testing.T) {
	ahead := time.Hour
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Date", time.Now().Add(ahead).UTC().Format(http.TimeFormat))
		fmt.Fprintln(w, "{}")
	}))
	defer s.Close()
	got, err := clock(context.Background(), strings.TrimPrefix(s.URL, "http://"))
	if d := time.Until(got); err != nil || d < ahead-time.Minute || d > ahead {
		t.Errorf("clock() is %v ahead, %v; want up to %v", d, err, ahead)
	}
}

package etcd

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

// clock is the wall clock of the member at addr. etcd has no question for it; what it answers over HTTP is dated, in whole
// seconds. Of that second the moment is taken that is the nearest to this process's own time, so that an offset is told too
// small by up to a second, and never too large.
func clock(ctx context.Context, addr string) (time.Time, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+"/version", nil)
	if err != nil {
		return time.Time{}, err
	}
	r.Close = true
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	asked := time.Now()
	reply, err := client.Do(r)
	if err != nil {
		return time.Time{}, err
	}
	reply.Body.Close()
	answered := time.Now()
	second, err := http.ParseTime(reply.Header.Get("Date"))
	if err != nil {
		return time.Time{}, fmt.Errorf("the date of what %s answered: %w", addr, err)
	}
	return nearest(second, asked.Add(answered.Sub(asked)/2)), nil
}

// nearest is the moment of a second that is the nearest to now.
func nearest(second, now time.Time) time.Time {
	last := second.Add(time.Second - time.Nanosecond)
	switch {
	case now.Before(second):
		return second
	case now.After(last):
		return last
	}
	return now
}

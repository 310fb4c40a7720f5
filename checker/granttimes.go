package checker

import "time"

// grantTimes has a time for each grant of one lock; 0: none was set. It is a table where the lock has a good part of all
// grants, else a map.
type grantTimes struct {
	table []time.Duration
	rest  map[int32]time.Duration
}

func (v *view) ofGrants(l *lockView) *grantTimes {
	if 8*len(l.grants) >= len(v.grants) {
		return &grantTimes{table: make([]time.Duration, len(v.grants))}
	}
	return &grantTimes{rest: make(map[int32]time.Duration, len(l.grants))}
}

func (t *grantTimes) set(g int32, d time.Duration) {
	if t.table != nil {
		t.table[g] = d
		return
	}
	t.rest[g] = d
}

func (t *grantTimes) get(g int32) time.Duration {
	if t.table != nil {
		return t.table[g]
	}
	return t.rest[g]
}

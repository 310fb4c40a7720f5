package catalog

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// A lock takes the options that it knows, and no other: one that it ignored would be believed.
func TestLocksRefuseOptionsThatTheyDoNotKnow(t *testing.T) {
	for _, l := range Locks() {
		for _, option := range []string{"renew", "timeout", "quorum", "limit", "colour"} {
			_, err := l.New(map[string]string{option: "4"})
			if refused := err != nil && strings.Contains(err.Error(), "there is no option "+option); refused == slices.Contains(l.Options, option) {
				t.Errorf("%s: option %s: %v, of %v", l.Name, option, err, l.Options)
			}
		}
	}
}

// What takes renew renews, and claims so; nothing else does.
func TestRenewIsClaimedByWhoDoesIt(t *testing.T) {
	want := []string{"etcd/lease", "postgres/lease", "redis/fair", "redis/rwlock", "redis/semaphore", "redis/single"}
	var got []string
	for _, l := range Locks() {
		p, err := l.New(map[string]string{"renew": "250ms"})
		if err != nil {
			continue
		}
		got = append(got, l.Name)
		if c := p.Claims(time.Second); !c.Background || !c.TellsLoss {
			t.Errorf("%s takes renew, and claims %+v", l.Name, c)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("renew is an option of %v, want %v", got, want)
	}
}

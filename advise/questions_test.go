package advise

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestAsk(t *testing.T) {
	for name, c := range map[string]struct {
		typed string
		want  Answers
		asks  []string
		never []string
	}{
		"nothing is known": {"\nredis\n\n\n\n\n\n\n\n\n\n", Answers{Instances: 2, Have: []string{"redis"}, RedisNodes: 1, Drift: Drift},
			[]string{"How many instances compete for the lock? [2] ", "What is there already? One or more of etcd, zookeeper, postgres, redis, managed: "}, []string{"pooler", "How many Redis", "compare a version"}},
		"one process": {"1\n200ms\ny\nno\n", Answers{Instances: 1, Section: 200 * time.Millisecond, Retried: true, RedisNodes: 1, Drift: Drift},
			nil, []string{"What is there", "stand still", "shared storage"}},
		"versions": {"3\nPostgres, redis\nyes\nyes\nno\nno\n50ms\nno\n", Answers{Instances: 3, Have: []string{"postgres", "redis"}, Writes: true, Conditions: true, Section: 50 * time.Millisecond, RedisNodes: 1, Drift: Drift},
			nil, []string{"pooler", "rates of clocks"}},
		"five Redis servers": {"4\nredis\nn\nn\nn\ny\n5\n200ms\n2s\n0.02\nn\ny\n", Answers{Instances: 4, Have: []string{"redis"}, Failover: true, RedisNodes: 5, Section: 200 * time.Millisecond, Pause: 2 * time.Second, Drift: 0.02, Nested: true},
			nil, []string{"pooler"}},
		"not known what it compares": {"2\netcd\ny\n\n\n\n\n\n\n\n\n", Answers{Instances: 2, Have: []string{"etcd"}, Writes: true, RedisNodes: 1, Drift: Drift},
			[]string{"compare a version or a token as it writes? [not known] "}, nil},
		"five Redis servers, and a write": {"4\nredis\ny\nn\nn\ny\ny\n5\n200ms\n2s\n\nn\nn\n", Answers{Instances: 4, Have: []string{"redis"}, Writes: true, Blind: true, Exclusive: true, Failover: true, RedisNodes: 5, Section: 200 * time.Millisecond, Pause: 2 * time.Second, Drift: Drift},
			nil, nil},
		"behind a pooler": {"2\npostgres\n\n\n\n\ny\n\n\n\n\n\n", Answers{Instances: 2, Have: []string{"postgres"}, Pooled: true, RedisNodes: 1, Drift: Drift},
			nil, []string{"How many Redis"}},
		"mistakes and help": {"none\n0\n?\n2\n\nfloppy\nmanaged\netcd\nmaybe\ny\n?\nn\n\n\nsoon\n0\n25h\n1s\n-1s\n0\n2\n\n\n\n", Answers{Instances: 2, Have: []string{"etcd"}, Writes: true, Blind: true, Section: time.Second, Steady: true, RedisNodes: 1, Drift: Drift},
			[]string{"expected a number, 1 or more", "threads of one process", "nothing to keep a lock in", "expected some of etcd, ", "locktest check", "expected yes or no", "WHERE version = 7", "expected a duration", "a section takes some time", "expected 24h at most", "below 1"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			got, err := Ask(strings.NewReader(c.typed), &out)
			if err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("%+v, %v; want %+v\n%s", got, err, c.want, out.String())
			}
			for _, text := range c.asks {
				if !strings.Contains(out.String(), text) {
					t.Errorf("%q is not in\n%s", text, out.String())
				}
			}
			for _, text := range c.never {
				if strings.Contains(out.String(), text) {
					t.Errorf("%q is asked:\n%s", text, out.String())
				}
			}
		})
	}
}

func TestAskEnds(t *testing.T) {
	var out strings.Builder
	if _, err := Ask(strings.NewReader("2\nredis\n"), &out); !errors.Is(err, ErrEnded) {
		t.Errorf("%v\n%s", err, out.String())
	}
}

const compares = "Can that storage compare a version or a token as it writes?"

// A question that is left out would have changed nothing.
func TestWhatIsNotAskedDoesNotMatter(t *testing.T) {
	words := map[string][]string{"yes": {"yes", "no"}, "no": {"yes", "no"}, "1": {"1", "5"}, unknown: {"1ms", "2s"}, "0.01": {"0.01", "0.3"}}
	seen := 0
	each(func(a Answers) {
		for _, q := range questions() {
			if q.when(a) || words[q.usual] == nil {
				continue
			}
			seen++
			var choices []Choice
			try := words[q.usual]
			if q.text == compares {
				try = words["no"]
			}
			for _, w := range try {
				b := a
				if err := q.take(&b, w); err != nil {
					t.Fatal(err)
				}
				if q.text == compares {
					b.Retried = false // what is asked instead, later
				}
				c, err := Choose(b)
				if err != nil {
					t.Fatal(err)
				}
				choices = append(choices, c)
			}
			if !reflect.DeepEqual(choices[0], choices[1]) {
				t.Fatalf("%+v: %q is not asked, and matters:\n%+v\n%+v", a, q.text, choices[0], choices[1])
			}
		}
	})
	if seen == 0 {
		t.Error("every question was asked")
	}
}

func TestFlags(t *testing.T) {
	a := Answers{Instances: 4, Have: []string{"redis", "postgres"}, Section: 200 * time.Millisecond, Steady: true, Drift: 0.02, Writes: true, Blind: true, RedisNodes: 5, Nested: true}
	want := strings.Fields("--have redis,postgres --instances 4 --section 200ms --pause 0s --drift 0.02 --writes --conditions=false --redis-nodes 5 --nested")
	if got := Flags(a); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

package advise

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// advisable is every lock that Choose may return, with the length of a lease.
func advisable() []Choice {
	var all []Choice
	for _, lock := range []string{"memory/mutex", "postgres/optimistic", "etcd/cas", "etcd/rwlock", "zookeeper/rwlock", "postgres/advisory-shared", "redis/rwlock",
		"postgres/lease", "postgres/advisory", "etcd/lease", "zookeeper/ephemeral", "redis/single", "redis/redlock"} {
		c := Choice{Lock: lock}
		c.Provider, c.Strategy, _ = strings.Cut(lock, "/")
		switch {
		case lock == "memory/mutex", strings.HasSuffix(lock, "/optimistic"), strings.HasSuffix(lock, "/cas"):
		case c.Provider == "etcd":
			c.TTL = 17 * time.Second
		default:
			c.TTL = 17300 * time.Millisecond
		}
		all = append(all, c)
	}
	return all
}

// withoutLease are locks that end with their connection or their process, or are none.
func withoutLease(lock string) bool {
	return strings.HasPrefix(lock, "postgres/advisory") || lock == "memory/mutex" || lock == "postgres/optimistic" || lock == "etcd/cas"
}

// Every lock has a program in every language, or it is said why not.
func TestCode(t *testing.T) {
	programs := 0
	for _, c := range advisable() {
		for _, language := range Languages() {
			text, err := Code(c, language)
			if err != nil {
				if text != "" || !strings.Contains(err.Error(), c.Lock) || strings.Contains(err.Error(), ": ;") || !strings.Contains(err.Error(), "; there is ") {
					t.Errorf("%s in %s: %q, %v", c.Lock, language, text, err)
				}
				continue
			}
			programs++
			for _, problem := range faults(c, text) {
				t.Errorf("%s in %s: %s", c.Lock, language, problem)
			}
		}
	}
	if programs != 34 {
		t.Errorf("%d programs", programs)
	}
	if _, err := Code(Choice{Lock: "redis/single"}, "cobol"); err == nil || !strings.Contains(err.Error(), "python") {
		t.Errorf("an unknown language: %v", err)
	}
}

// faults are what a program must not be.
func faults(c Choice, text string) (found []string) {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if len(lines) > 20 {
		found = append(found, fmt.Sprintf("%d lines", len(lines)))
	}
	for i, l := range lines {
		if n := utf8.RuneCountInString(l); n > 120 {
			found = append(found, fmt.Sprintf("line %d has %d columns", i+1, n))
		}
	}
	if !strings.HasPrefix(lines[0], "// ") && !strings.HasPrefix(lines[0], "# ") {
		found = append(found, "it doesn't begin with what to install")
	}
	ttl := fmt.Sprint(c.TTL.Milliseconds())
	if c.Provider == "etcd" {
		ttl = fmt.Sprint(int(c.TTL.Seconds()))
	}
	if !withoutLease(c.Lock) && !strings.Contains(text, ttl) {
		found = append(found, "no lease of "+ttl)
	}
	for _, word := range []string{"{{", "\r"} {
		if strings.Contains(text, word) {
			found = append(found, "it contains "+word)
		}
	}
	if !strings.Contains(strings.ToLower(text), "busy") || !strings.HasSuffix(text, "\n") {
		found = append(found, "busy is not an error of its own, or the last line doesn't end")
	}
	return found
}

// Nobody is advised to take a lock that Code doesn't know.
func TestEveryChoiceIsKnown(t *testing.T) {
	known := map[string]bool{}
	for _, c := range advisable() {
		known[c.Lock] = true
	}
	each(func(a Answers) {
		c, err := Choose(a)
		if err != nil || !known[c.Lock] {
			t.Fatalf("%+v: %s, %v", a, c.Lock, err)
		}
	})
}

// each calls f with every mixture of answers that choose differently.
func each(f func(Answers)) {
	stores := []string{"etcd", "zookeeper", "postgres", "redis"}
	for have := 1; have < 1<<len(stores); have++ {
		for bits := range 1 << 10 {
			on := func(i int) bool { return bits&(1<<i) != 0 }
			a := Answers{Instances: 3, RedisNodes: 1, Drift: Drift, Writes: on(0), Conditions: on(1) && on(0), Blind: on(9) && !on(1) && on(0), Exclusive: on(2), Failover: on(3), Pooled: on(4), ReadHeavy: on(5), Retried: on(6), Nested: on(7)}
			if on(8) {
				a.RedisNodes = 5
			}
			for i, s := range stores {
				if have&(1<<i) != 0 {
					a.Have = append(a.Have, s)
				}
			}
			f(a)
		}
	}
}

// What a program says to install is what it is tried with.
func TestPins(t *testing.T) {
	mod, err := os.ReadFile("../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	locked, err := os.ReadFile("code/testdata/node/package-lock.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, url := range regexp.MustCompile(`"resolved": "([^"]*)"`).FindAllSubmatch(locked, -1) {
		if !strings.HasPrefix(string(url[1]), "https://registry.npmjs.org/") {
			t.Errorf("the lock file has packages from %s", url[1])
		}
	}
	var lock struct {
		Packages map[string]struct{ Version string }
	}
	if err := json.Unmarshal(locked, &lock); err != nil {
		t.Fatal(err)
	}
	get, install := regexp.MustCompile(`^// go get (\S+)@(\S+)`), regexp.MustCompile(`^// npm install (\S+)@(\S+)`)
	for _, c := range advisable() {
		for language, pin := range map[string]*regexp.Regexp{"go": get, "node": install} {
			text, err := Code(c, language)
			if err != nil || strings.HasPrefix(text, "// nothing to install\n") {
				continue
			}
			m := pin.FindStringSubmatch(text)
			switch {
			case m == nil:
				t.Errorf("%s in %s installs nothing: %s", c.Lock, language, text)
			case language == "go" && !strings.Contains(string(mod), "\t"+m[1]+" "+m[2]+" "):
				t.Errorf("%s is tried with another version than %s %s", c.Lock, m[1], m[2])
			case language == "node" && lock.Packages["node_modules/"+m[1]].Version != m[2]:
				t.Errorf("%s is tried with another version than %s %s", c.Lock, m[1], m[2])
			}
		}
	}
}

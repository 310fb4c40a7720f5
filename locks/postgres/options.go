package postgres

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Options of the locks in this package. Zero values are the defaults.
type Options struct {
	// Timeout of a connect or an answer, on top of the time that an acquire may wait. Default 1 s.
	Timeout time.Duration
	// Renew is how often the lease of a holder of postgres/lease is extended in the background. 0: never.
	Renew time.Duration
	// User and Database to connect as and to. Default postgres.
	User, Database string
	// SkipLocked is how postgres/row tries once: by SKIP LOCKED instead of NOWAIT.
	SkipLocked bool
	// Nodes are those that the client dials, by name, in order; all of them where it is empty.
	Nodes []string
}

// OptionNames are the names that a scenario can give under lock.options.
func OptionNames() []string { return []string{"database", "nodes", "timeout", "user"} }

var nodeName = regexp.MustCompile(`^n[1-9][0-9]?$`)

// chosen returns the addresses of the nodes that o names.
func (o Options) chosen(addrs []string) ([]string, error) {
	if len(o.Nodes) == 0 {
		return addrs, nil
	}
	var out []string
	for _, name := range o.Nodes {
		i, err := strconv.Atoi(name[1:])
		if err != nil || i > len(addrs) {
			return nil, fmt.Errorf("there is no node %s", name)
		}
		out = append(out, addrs[i-1])
	}
	return out, nil
}

var plainName = regexp.MustCompile(`^[A-Za-z0-9_.-]+$`)

// ParseOptions reads lock.options of a scenario.
func ParseOptions(m map[string]string) (Options, error) {
	o := Options{User: m["user"], Database: m["database"]}
	for name, value := range map[string]string{"user": o.User, "database": o.Database} {
		if value != "" && !plainName.MatchString(value) {
			return Options{}, fmt.Errorf("option %s: %q is not a plain name", name, value)
		}
	}
	switch m["try"] {
	case "", "nowait":
	case "skip-locked":
		o.SkipLocked = true
	default:
		return Options{}, fmt.Errorf("option try: %q is neither nowait nor skip-locked", m["try"])
	}
	if text := m["nodes"]; text != "" {
		o.Nodes = strings.Split(text, ",")
	}
	for _, name := range o.Nodes {
		if !nodeName.MatchString(name) {
			return Options{}, fmt.Errorf("option nodes: %q is not the name of a node, such as n1, or several with commas between them", name)
		}
	}
	for name, to := range map[string]*time.Duration{"timeout": &o.Timeout, "renew": &o.Renew} {
		text, ok := m[name]
		if !ok {
			continue
		}
		d, err := time.ParseDuration(text)
		if err != nil || d <= 0 {
			return Options{}, fmt.Errorf("option %s: %q is not a duration above zero, such as 500ms", name, text)
		}
		*to = d
	}
	return o, nil
}

func (o Options) withDefaults() Options {
	o.Timeout = cmp.Or(o.Timeout, time.Second)
	o.User = cmp.Or(o.User, "postgres")
	o.Database = cmp.Or(o.Database, "postgres")
	return o
}

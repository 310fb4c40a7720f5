package postgres

import (
	"cmp"
	"fmt"
	"regexp"
	"time"
)

// Options of the locks in this package. Zero values are the defaults.
type Options struct {
	// Timeout of a connect or an answer, on top of the time that an acquire may wait. Default 1 s.
	Timeout time.Duration
	// User and Database to connect as and to. Default postgres.
	User, Database string
}

// OptionNames are the names that a scenario can give under lock.options.
func OptionNames() []string { return []string{"database", "timeout", "user"} }

var plainName = regexp.MustCompile(`^[A-Za-z0-9_.-]+$`)

// ParseOptions reads lock.options of a scenario.
func ParseOptions(m map[string]string) (Options, error) {
	o := Options{User: m["user"], Database: m["database"]}
	for name, value := range map[string]string{"user": o.User, "database": o.Database} {
		if value != "" && !plainName.MatchString(value) {
			return Options{}, fmt.Errorf("option %s: %q is not a plain name", name, value)
		}
	}
	if text, ok := m["timeout"]; ok {
		d, err := time.ParseDuration(text)
		if err != nil || d <= 0 {
			return Options{}, fmt.Errorf("option timeout: %q is not a duration above zero, such as 500ms", text)
		}
		o.Timeout = d
	}
	return o, nil
}

func (o Options) withDefaults() Options {
	o.Timeout = cmp.Or(o.Timeout, time.Second)
	o.User = cmp.Or(o.User, "postgres")
	o.Database = cmp.Or(o.Database, "postgres")
	return o
}

package zookeeper

import (
	"fmt"
	"strconv"
	"time"
)

// Options of the lock. Zero values are the defaults.
type Options struct {
	// Timeout of one request. Default: half of the session's time.
	Timeout time.Duration
	// Limit is how many permits zookeeper/semaphore has. Default 3.
	Limit int
}

// OptionNames are the names that a scenario can give under lock.options.
func OptionNames() []string { return []string{"timeout"} }

// ParseOptions reads lock.options of a scenario.
func ParseOptions(m map[string]string) (Options, error) {
	var o Options
	for name, text := range m {
		if name == "limit" {
			n, err := strconv.Atoi(text)
			if err != nil || n < 1 {
				return Options{}, fmt.Errorf("option limit: %q is not a number above 0", text)
			}
			o.Limit = n
			continue
		}
		if name != "timeout" {
			return Options{}, fmt.Errorf("there is no option %s", name)
		}
		d, err := time.ParseDuration(text)
		if err != nil || d <= 0 {
			return Options{}, fmt.Errorf("option %s: %q is not a duration above zero, such as 500ms", name, text)
		}
		o.Timeout = d
	}
	return o, nil
}

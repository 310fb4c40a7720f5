package scenarios

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Resolved writes a scenario with every default and, once it is drawn, the seed. Load reads the same scenario from it,
// apart from the places in the file.
func Resolved(s *Scenario) []byte {
	w := &writer{}
	w.field(0, "version", fmt.Sprint(s.Version))
	w.field(0, "name", quote(s.Name))
	w.text(0, "about", s.About)
	w.list(0, "tags", s.Tags)
	w.lock(s.Lock)
	w.cluster(s.Cluster)
	w.clients(s.Clients)
	w.workload(s.Workload)
	w.run(s.Run)
	w.faults(s.Faults)
	w.expect(s.Expect)
	w.thresholds(s.Thresholds)
	w.field(0, "evidence", "")
	w.field(1, "min-acquires", fmt.Sprint(s.Evidence.MinAcquires))
	w.field(1, "min-hits", fmt.Sprint(s.Evidence.MinHits))
	return []byte(w.String())
}

type writer struct{ strings.Builder }

func (w *writer) field(depth int, key, value string) {
	line := strings.Repeat("  ", depth) + quoteKey(key) + ": " + value
	w.WriteString(strings.TrimRight(line, " ") + "\n")
}

// text, count and duration leave out what is empty, because that is what a missing key means.
func (w *writer) text(depth int, key, value string) {
	if value != "" {
		w.field(depth, key, quote(value))
	}
}

func (w *writer) count(depth int, key string, n int) {
	if n != 0 {
		w.field(depth, key, fmt.Sprint(n))
	}
}

func (w *writer) duration(depth int, key string, d time.Duration) {
	if d != 0 {
		w.field(depth, key, formatDuration(d))
	}
}

func (w *writer) list(depth int, key string, words []string) {
	if len(words) > 0 {
		w.field(depth, key, flow(words))
	}
}

func (w *writer) options(depth int, key string, options map[string]string) {
	if len(options) == 0 {
		return
	}
	w.field(depth, key, "")
	for _, k := range keys(options) {
		w.field(depth+1, k, quote(options[k]))
	}
}

func (w *writer) lock(l Lock) {
	w.field(0, "lock", "")
	w.text(1, "use", l.Use)
	w.field(1, "ttl", formatDuration(l.TTL))
	w.text(1, "mode", l.Mode)
	w.count(1, "permits", l.Permits)
	w.options(1, "options", l.Options)
	w.list(1, "command", l.Command)
	w.text(1, "server", l.Server)
}

func (w *writer) access(a Access) {
	w.text(1, "user", a.User)
	w.text(1, "password-env", a.PasswordEnv)
	w.text(1, "password-file", a.PasswordFile)
	if a.TLS {
		w.field(1, "tls", "true")
	}
	w.text(1, "tls-ca", a.CA)
	w.text(1, "tls-cert", a.Cert)
	w.text(1, "tls-key", a.Key)
}

func (w *writer) cluster(c Cluster) {
	w.field(0, "cluster", "")
	w.field(1, "kind", quote(c.Kind))
	w.count(1, "nodes", c.Nodes)
	w.text(1, "version", c.Version)
	w.text(1, "image", c.Image)
	w.list(1, "endpoints", c.Endpoints)
	if c.AllowFaults {
		w.field(1, "allow-faults", "true")
	}
	w.access(c.Access)
	for _, k := range keys(c.Options) {
		w.field(1, k, quote(c.Options[k]))
	}
}

func (w *writer) clients(c Clients) {
	w.field(0, "clients", "")
	w.count(1, "count", c.Count)
	w.text(1, "process", c.Process)
	w.count(1, "threads", c.Threads)
	if len(c.Options) == 0 {
		return
	}
	w.field(1, "options", "")
	for _, client := range keys(c.Options) {
		w.options(2, client, c.Options[client])
	}
}

func (w *writer) workload(v Workload) {
	w.field(0, "workload", "")
	w.field(1, "use", quote(v.Use))
	w.count(1, "locks", v.Locks)
	w.field(1, "hold", formatSpan(v.Hold))
	w.field(1, "think", formatSpan(v.Think))
	w.field(1, "wait", formatDuration(v.Wait))
	extend := "never"
	if v.Extend > 0 {
		extend = formatDuration(v.Extend)
	}
	w.field(1, "extend", extend)
	w.field(1, "fail", formatPercent(v.Fail))
	if v.Use == "rwlock" || v.Readers != 0.7 {
		w.field(1, "readers", formatPercent(v.Readers))
	}
	if v.Use == "nested" || v.Order != "sorted" {
		w.field(1, "order", quote(v.Order))
	}
	if v.Early {
		w.field(1, "read", "before-lock")
	}
	if v.Use == "once" || v.Deduplicate {
		w.field(1, "deduplicate", fmt.Sprint(v.Deduplicate))
	}
	w.field(1, "resource", quote(v.Resource))
	w.field(1, "store", quote(v.Store))
}

func (w *writer) run(r Run) {
	w.field(0, "run", "")
	w.field(1, "duration", formatDuration(r.Duration))
	w.field(1, "warmup", formatDuration(r.Warmup))
	w.field(1, "settle", formatDuration(r.Settle))
	if r.HasSeed {
		w.field(1, "seed", fmt.Sprint(r.Seed))
	}
	w.field(1, "repeat", fmt.Sprint(r.Repeat))
	w.duration(1, "budget", r.Budget)
}

func (w *writer) faults(faults []Fault) {
	if len(faults) == 0 {
		return
	}
	w.field(0, "faults", "")
	for _, f := range faults {
		w.WriteString("  - ")
		var b writer
		b.trigger(f.Trigger)
		if f.For != (Range{}) {
			b.field(2, "for", formatSpan(f.For))
		}
		var args writer
		args.args(f.Args)
		if args.Len() == 0 {
			b.field(2, f.Kind, "{}")
		} else {
			b.field(2, f.Kind, "")
			b.WriteString(args.String())
		}
		w.WriteString(strings.TrimLeft(b.String(), " "))
	}
}

func (w *writer) trigger(t Trigger) {
	switch {
	case t.At != nil:
		w.field(2, "at", formatSpan(*t.At))
	case t.Every != nil:
		w.field(2, "every", formatSpan(*t.Every))
		w.field(2, "from", formatDuration(t.From))
		w.duration(2, "until", t.Until)
	default:
		w.field(2, "on", quote(t.On))
		w.field(2, "after", formatSpan(t.After))
		w.field(2, "chance", formatPercent(t.Chance))
	}
	w.count(2, "limit", t.Limit)
}

func (w *writer) args(a Args) {
	switch {
	case a.Of != "":
		w.field(3, "of", quote(a.Of))
	case a.List != nil:
		w.field(3, "of", flow(a.List))
	case a.Groups != nil:
		sides := make([]string, len(a.Groups))
		for i, g := range a.Groups {
			sides[i] = flow(g)
		}
		w.field(3, "of", "["+strings.Join(sides, ", ")+"]")
	}
	w.list(3, "of", a.Kinds)
	w.text(3, "on", a.On)
	w.text(3, "direction", a.Direction)
	w.text(3, "mode", a.Mode)
	w.text(3, "restart", a.Restart)
	if a.Latency != (Range{}) {
		w.field(3, "delay", formatSpan(a.Latency))
	}
	if a.Jump != 0 {
		w.field(3, "jump", signed(a.Jump))
	}
	if a.Rate != 0 {
		w.field(3, "rate", strconv.FormatFloat(a.Rate, 'g', -1, 64))
	}
	if a.Freeze {
		w.field(3, "freeze", "true")
	}
	w.text(3, "clock", a.Clock)
	w.text(3, "shape", a.Shape)
	w.text(3, "only", a.Only)
	w.message(a.Message)
	w.exec(a.Exec)
	if a.Bandwidth != 0 {
		w.field(3, "bandwidth", formatBandwidth(a.Bandwidth))
	}
}

func (w *writer) expect(expect map[string]Expectation) {
	if len(expect) == 0 {
		return
	}
	w.field(0, "expect", "")
	for _, name := range keys(expect) {
		e := expect[name]
		w.field(1, name, "")
		w.field(2, "verdict", quote(e.Verdict))
		w.text(2, "because", e.Because)
		w.duration(2, "recover-within", e.RecoverWithin)
		if e.HasMin {
			w.field(2, "min", formatPercent(e.Min))
		}
		w.text(2, "during", e.During)
	}
}

func (w *writer) thresholds(thresholds []Threshold) {
	if len(thresholds) == 0 {
		return
	}
	w.field(0, "thresholds", "")
	for _, t := range thresholds {
		w.field(1, t.Metric, "")
		switch {
		case t.Max > 0:
			w.field(2, "max", formatDuration(t.Max))
		case t.Rate:
			w.field(2, "min", strconv.FormatFloat(t.Min, 'f', -1, 64))
		default:
			w.field(2, "min", formatPercent(t.Min))
		}
		w.text(2, "during", t.During)
	}
}

func flow(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = quote(word)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// quote writes a word plainly where YAML reads it back as the same text, and in double quotes elsewhere: JSON's strings
// are YAML's.
func quote(s string) string {
	plain := regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9 _./%-]*[A-Za-z0-9%])?$`)
	if plain.MatchString(s) && !reserved(s) {
		return s
	}
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		panic(fmt.Sprintf("scenarios: text without JSON form: %v", err))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func quoteKey(s string) string {
	if s == "on" {
		return s
	}
	return quote(s)
}

// reserved words mean something else than their text in one version of YAML or another.
func reserved(s string) bool {
	switch strings.ToLower(s) {
	case "null", "true", "false", "yes", "no", "on", "off", "y", "n":
		return true
	}
	return false
}

// signed is the form that parseSigned reads.
func signed(d time.Duration) string {
	if d < 0 {
		return "-" + formatDuration(-d)
	}
	return "+" + formatDuration(d)
}

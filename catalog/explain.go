package catalog

import (
	"cmp"
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/locktest/locktest/scenarios"
)

//go:embed terms.md
var terms string

// Page explains one word.
type Page struct {
	Name string   `json:"name"`
	Kind string   `json:"kind"` // property, verdict, finding, strength, term, fault, code, lock, workload, key, metric, value
	Also []string `json:"also,omitempty"`
	Text []string `json:"text"` // paragraphs
	See  []string `json:"see,omitempty"`
}

// Pages returns all pages: those that are written by hand, and those that follow from the catalogue. Where both have one of a name,
// such as failover, they are one page.
func Pages() []Page {
	pages := written()
	for _, p := range slices.Concat(faultPages(), codePages(), lockPages(), workloadPages(), keyPages(), metricPages(), valuePages()) {
		if i := slices.IndexFunc(pages, func(q Page) bool { return q.Name == p.Name }); i >= 0 {
			pages[i].Text = append(pages[i].Text, p.Text...)
			continue
		}
		pages = append(pages, p)
	}
	slices.SortStableFunc(pages, func(a, b Page) int { return cmp.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)) })
	return pages
}

// Explain finds the pages of a word, by name or synonym, however it is written: mostly one, and several where a word means several
// things. Without any, near has names that look like it.
func Explain(word string) (found []Page, near []string) {
	wanted := plainWord(word)
	var names []string
	for _, p := range Pages() {
		all := append([]string{p.Name}, p.Also...)
		if slices.ContainsFunc(all, func(n string) bool { return plainWord(n) == wanted }) || p.Kind == "key" && isKey(p.Name, word) {
			found = append(found, p)
		}
		names = append(names, all...)
	}
	if len(found) > 0 { // keys after what they are about
		slices.SortStableFunc(found, func(a, b Page) int { return strings.Compare(place(a), place(b)) })
		return found, nil
	}
	return nil, nearWords(word, names)
}

func place(p Page) string {
	if p.Kind == "key" {
		return "last"
	}
	return "first"
}

// plainWord makes one of the ways in which a word is written: Fencing-Token, fencing_token, fencing tokens.
func plainWord(s string) string {
	s = strings.NewReplacer("-", " ", "_", " ").Replace(strings.ToLower(strings.TrimSpace(s)))
	s = strings.Join(strings.Fields(s), " ")
	if _, after, ok := strings.Cut(s, "/"); ok && strings.HasPrefix(s, "mutual exclusion/") {
		s = after // mutual-exclusion/double-grant is explained by its kind
	}
	if len(s) > 4 && strings.HasSuffix(s, "s") && !strings.HasSuffix(s, "ss") {
		s = strings.TrimSuffix(s, "s")
	}
	return s
}

// nearWords are the names that word may have been meant to be: those that have it in them, and the nearest by spelling.
func nearWords(word string, names []string) []string {
	var near []string
	wanted := plainWord(word)
	for _, n := range names {
		if len(wanted) > 2 && strings.Contains(plainWord(n), wanted) && len(near) < 5 {
			near = append(near, n)
		}
	}
	if n := scenarios.Nearest(word, names); n != "" && !slices.Contains(near, n) {
		near = append([]string{n}, near...)
	}
	return near
}

// written parses the pages that are written by hand.
func written() []Page {
	var pages []Page
	for _, block := range strings.Split("\n"+strings.TrimSpace(terms), "\n# ")[1:] {
		lines := strings.Split(strings.TrimSpace(block), "\n")
		name, also, _ := strings.Cut(lines[0], " | ")
		p := Page{Name: name, Kind: lines[1]}
		if also != "" {
			p.Also = strings.Split(also, "; ")
		}
		for _, l := range lines[2:] {
			if see, ok := strings.CutPrefix(l, "See: "); ok {
				p.See = strings.Split(see, ", ")
			} else {
				p.Text = append(p.Text, l)
			}
		}
		pages = append(pages, p)
	}
	return pages
}

func faultPages() []Page {
	var pages []Page
	all := Names().Faults
	for _, kind := range slices.Sorted(maps.Keys(all)) {
		f := all[kind]
		text := []string{capitalized(f.About) + "."}
		if len(f.Targets) > 0 {
			text = append(text, "Targets: "+strings.Join(f.Targets, ", ")+".")
		}
		pages = append(pages, Page{Name: kind, Kind: "fault", Text: append(text, "In a scenario: `"+f.Example+"`"), See: []string{"nemesis"}})
	}
	return pages
}

func codePages() []Page {
	var pages []Page
	for _, c := range Codes() {
		pages = append(pages, Page{Name: c.Code, Kind: "code", Text: []string{strings.TrimSuffix(capitalized(c.About), ".") + ".", codeFamily(c.Code)}})
	}
	return pages
}

// codeFamily is what holds for every code that begins alike.
func codeFamily(code string) string {
	switch code[:3] {
	case "LT0":
		return "It is about a scenario file, and is told with line and column. Errors end the command before anything starts, exit status 65; warnings don't, but with `locktest validate --strict`."
	case "LT1":
		return "It is about the machine, or what the scenario asks of it: exit status 69, or 65 where the scenario asks for what can't be had. `locktest doctor` says what this machine can run, and what mends what it lacks."
	case "LT2":
		return "It is about a client, of the program's own locks or an adapter: exit status 76 where the run could not go on. The run's folder has what the client wrote, in logs."
	case "LT3":
		return "It is about a file that is read: exit status 65. Nothing was judged."
	}
	return "It is a mistake of locktest itself: exit status 70. Please report it with the run's folder."
}

func lockPages() []Page {
	var pages []Page
	for _, l := range Locks() {
		text := []string{capitalized(l.About) + "."}
		if l.Broken() {
			text = append(text, "It is wrong on purpose, and caught by "+l.Caught+"; the right lock for its scenario is "+l.Reference+". Run: locktest run "+l.Name)
		} else if p, err := l.New(nil); err == nil {
			c := p.Claims(0)
			text = append(text, fmt.Sprintf("It claims: expiry %s, tokens %s, releases that compare the owner: %s, that a release's ok proves it was held: %s, that it tells of a loss: %s. It is judged by that alone.",
				c.Expiry, c.Tokens, yes(c.OwnerChecked), yes(c.ReleaseHeld), yes(c.TellsLoss)))
		}
		pages = append(pages, Page{Name: l.Name, Kind: "lock", Text: text})
	}
	return pages
}

func workloadPages() []Page {
	var pages []Page
	all := Names().Workloads
	for _, name := range slices.Sorted(maps.Keys(all)) {
		pages = append(pages, Page{Name: name, Kind: "workload", Text: []string{capitalized(all[name].About) + "."}})
	}
	return pages
}

// keyPages explain the keys of scenario files, by their paths and by their last words.
func keyPages() []Page {
	var pages []Page
	add := func(path, about, value, standard string) {
		text := []string{capitalized(about) + "."}
		if value != "" {
			text = append(text, "Value: "+value+".")
		}
		if standard != "" {
			text = append(text, "Default: "+standard+".")
		}
		p := Page{Name: path, Kind: "key", Text: text}
		if last := path[strings.LastIndexByte(path, '.')+1:]; last != path {
			p.Also = []string{last}
		}
		pages = append(pages, p)
	}
	for _, f := range scenarios.Fields() {
		value := string(f.Syntax)
		if len(f.Values) > 0 {
			value = oneOf(f.Values)
		}
		add(keyPath(f.Path), f.About, value, f.Default)
	}
	seen := map[string]bool{}
	all := Names().Locks
	for _, lock := range slices.Sorted(maps.Keys(all)) {
		for name, o := range all[lock].ServerOptions {
			if path := "cluster." + name; !seen[path] {
				seen[path] = true
				add(path, cmp.Or(o.About, "an option of the servers that some locks have"), oneOf(o.Values), "")
			}
		}
	}
	slices.SortFunc(pages, func(a, b Page) int { return cmp.Compare(a.Name, b.Name) })
	return pages
}

func oneOf(values []string) string {
	if len(values) < 2 {
		return strings.Join(values, "")
	}
	return "one of " + strings.Join(values, ", ")
}

// isKey says whether a word is a key as it would stand in a file, or with --set: faults[1].for, pause.only, expect.fencing.because.
func isKey(path, word string) bool {
	parts := func(s string) []string { return strings.Split(strings.ToLower(s), ".") }
	bare := func(s string) string { s, _, _ = strings.Cut(s, "["); return s }
	wanted, have := parts(strings.TrimSpace(word)), parts(path)
	if len(wanted) < 2 {
		return false
	}
	last := len(have) - 1
	switch {
	case wanted[len(wanted)-1] != have[last] || bare(wanted[0]) != bare(have[0]):
		return false
	case len(have) == 3 && (have[1] == "kind" || have[1] == "property" || have[1] == "metric"):
		return true // whatever stands between, or nothing
	}
	return len(wanted) == len(have)
}

func metricPages() []Page {
	var pages []Page
	all := Names().Metrics
	for _, name := range slices.Sorted(maps.Keys(all)) {
		pages = append(pages, Page{Name: name, Kind: "metric", Text: []string{capitalized(all[name].About) + ".", "A scenario can bound it: `thresholds: { " + name + ": … }`"}, See: []string{"percentile"}})
	}
	return pages
}

// valuePages explain what some keys can be set to.
func valuePages() []Page {
	var pages []Page
	names := Names()
	add := func(key, name, about string) {
		text := fmt.Sprintf("As `%s`: %s.", key, about)
		if i := slices.IndexFunc(pages, func(p Page) bool { return p.Name == name }); i >= 0 {
			pages[i].Text = append(pages[i].Text, text)
			return
		}
		pages = append(pages, Page{Name: name, Kind: "value", Text: []string{text}})
	}
	for _, name := range slices.Sorted(maps.Keys(names.Clusters)) {
		add("cluster.kind", name, names.Clusters[name].About)
	}
	for _, name := range slices.Sorted(maps.Keys(names.Resources)) {
		add("workload.resource", name, names.Resources[name])
	}
	for _, name := range slices.Sorted(maps.Keys(names.Stores)) {
		add("workload.store", name, names.Stores[name])
	}
	return pages
}

func capitalized(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

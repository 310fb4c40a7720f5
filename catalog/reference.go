package catalog

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/locktest/locktest/scenarios"
)

// Reference returns the pages of docs/reference by their names, written from the same tables that scenario files are
// judged by.
func Reference() map[string]string {
	return map[string]string{"scenario.md": scenarioPage(), "codes.md": codesPage(), "locks.md": locksPage(), "terms.md": termsPage()}
}

const generated = "<!-- Written from the catalogue: go test ./catalog -update -->\n\n"

func scenarioPage() string {
	var b strings.Builder
	names := Names()
	b.WriteString("# Scenario files\n\n" + generated)
	b.WriteString("One file is one question. Durations have a unit (`200ms`), ranges two ends (`50ms..400ms`). An unknown key is an error. " +
		"`locktest schema` prints a JSON Schema for editors, `locktest validate` checks files.\n\n## Keys\n\n| key | value | default | meaning |\n| --- | --- | --- | --- |\n")
	for _, f := range scenarios.Fields() {
		if options := strings.HasSuffix(f.Path, ".options"); (f.Syntax == scenarios.Slot || f.Syntax == scenarios.Slots) && !options {
			continue
		}
		value := string(f.Syntax)
		if len(f.Values) > 0 {
			value = strings.Join(f.Values, ", ")
		}
		if f.Max > 0 {
			value += fmt.Sprintf(", at most %d", f.Max)
		}
		if f.Path == "expect.*.verdict" {
			row(&b, "`expect.PROPERTY`", "held, violated, any; or a mapping", code("held"), "the verdict alone, short for {verdict: ...}")
			row(&b, "`expect.PROPERTY/KIND`", "held, violated, any; or a mapping", "", "of one kind of a property that has kinds, such as mutual-exclusion/stale-holder")
		}
		row(&b, "`"+keyPath(f.Path)+"`", value, code(f.Default), f.About)
	}
	b.WriteString("\nKIND, PROPERTY and METRIC stand for one of those below; PROPERTY, where keys are given, for PROPERTY/KIND too. Options are those of the lock: see [locks](locks.md).\n\n## Faults\n\nEach entry of `faults` has exactly one trigger (`at`, `every` or `on`) and exactly one kind. A kind takes a target, or a mapping with `of` and further keys.\n\n| kind | meaning | keys | targets |\n| --- | --- | --- | --- |\n")
	for _, kind := range slices.Sorted(maps.Keys(names.Faults)) {
		f := names.Faults[kind]
		row(&b, "`"+kind+"`", f.About, strings.Join(f.Args, ", "), strings.Join(f.Targets, ", "))
	}
	b.WriteString("\n```yaml\nfaults:\n")
	for _, kind := range slices.Sorted(maps.Keys(names.Faults)) {
		fmt.Fprintf(&b, "  - %s\n", names.Faults[kind].Example)
	}
	b.WriteString("```\n\n`holder` and `waiter` are chosen when the fault begins, and waited for up to 2 s; a fault without a target *did not apply*, and the run is inconclusive.\n")
	section(&b, "Workloads", names.Workloads, func(w scenarios.WorkloadName) string { return w.About })
	section(&b, "Properties", names.Properties, func(p scenarios.PropertyName) string {
		if len(p.Kinds) == 0 {
			return p.About
		}
		return p.About + "; kinds: " + strings.Join(p.Kinds, ", ")
	})
	section(&b, "Clusters", names.Clusters, func(c scenarios.ClusterName) string { return c.About })
	section(&b, "Resources", names.Resources, func(s string) string { return s })
	section(&b, "Stores", names.Stores, func(s string) string { return s })
	section(&b, "Metrics", names.Metrics, func(m scenarios.MetricName) string { return m.About })
	return b.String()
}

// keyPath names what stands for any in a path.
func keyPath(path string) string {
	for prefix, word := range map[string]string{"faults[].": "KIND", "expect.": "PROPERTY", "thresholds.": "METRIC"} {
		if strings.HasPrefix(path, prefix) {
			path = strings.Replace(path, "*", word, 1)
		}
	}
	return path
}

func section[V any](b *strings.Builder, title string, m map[string]V, about func(V) string) {
	fmt.Fprintf(b, "\n## %s\n\n| name | meaning |\n| --- | --- |\n", title)
	for _, name := range slices.Sorted(maps.Keys(m)) {
		row(b, "`"+name+"`", about(m[name]))
	}
}

func codesPage() string {
	var b strings.Builder
	b.WriteString("# Error codes\n\n" + generated + "A code never changes its meaning.\n\n| code | meaning |\n| --- | --- |\n")
	for _, c := range Codes() {
		row(&b, c.Code, c.About)
	}
	return b.String()
}

func locksPage() string {
	var b strings.Builder
	b.WriteString("# Locks\n\n" + generated + "| lock | what it is | expiry | tokens | owner checked | release OK proves it was held | tells loss | can be extended | threads may share a client |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n")
	var broken []Lock
	for _, l := range Locks() {
		if l.Broken() {
			broken = append(broken, l)
			continue
		}
		p, err := l.New(nil)
		if err != nil {
			continue // every lock has defaults: TestLocksHaveDefaults
		}
		c := p.Claims(0)
		row(&b, "`"+l.Name+"`", l.About, string(c.Expiry), string(c.Tokens), yes(c.OwnerChecked), yes(c.ReleaseHeld), yes(c.TellsLoss), yes(l.Extends), yes(l.Threads))
	}
	b.WriteString("\n## Wrong on purpose\n\nControls of the harness, not for use. Each has a scenario of its name that shows what is wrong.\n\n| lock | mistake | caught by | right lock |\n| --- | --- | --- | --- |\n")
	for _, l := range broken {
		row(&b, "`"+l.Name+"`", l.About, l.Caught, "`"+l.Reference+"`")
	}
	return b.String()
}

func row(b *strings.Builder, cells ...string) {
	b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
}

func code(s string) string {
	if s == "" {
		return ""
	}
	return "`" + s + "`"
}

func yes(v bool) string {
	if v {
		return "yes"
	}
	return "no"
}

// termsPage is what locktest explain says, without what the other pages have.
func termsPage() string {
	var b strings.Builder
	b.WriteString("# Terms\n\n" + generated + "What `locktest explain WORD` says, offline, of properties, verdicts, findings and the words of the field; it explains [faults](scenario.md), [codes](codes.md) and [locks](locks.md) too.\n")
	for _, kind := range []string{"property", "verdict", "finding", "strength", "term"} {
		fmt.Fprintf(&b, "\n## %s\n", map[string]string{"property": "Properties", "verdict": "Verdicts", "finding": "Kinds of finding", "strength": "How firm a finding is", "term": "Words of the field"}[kind])
		for _, p := range written() {
			if p.Kind != kind {
				continue
			}
			fmt.Fprintf(&b, "\n**%s**", p.Name)
			if len(p.Also) > 0 {
				fmt.Fprintf(&b, " (%s)", strings.Join(p.Also, ", "))
			}
			fmt.Fprintf(&b, ". %s\n", strings.Join(p.Text, " "))
		}
	}
	return b.String()
}

package reports

import (
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/locktest/locktest/history"
	"github.com/locktest/locktest/runner"
)

// each calls visit with every node of a page.
func each(n *html.Node, visit func(*html.Node)) {
	visit(n)
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		each(c, visit)
	}
}

func parsed(t *testing.T, text string) *html.Node {
	t.Helper()
	root, err := html.Parse(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// visible is a page's text without scripts and style, white space joined.
func visible(root *html.Node) string {
	var b strings.Builder
	each(root, func(n *html.Node) {
		if n.Type == html.TextNode && n.Parent.Data != "script" && n.Parent.Data != "style" {
			b.WriteString(n.Data + " ")
		}
	})
	return strings.Join(strings.Fields(b.String()), " ")
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// TestPages: everything that the screen says of a verdict is on the page as text, and the page asks for nothing.
func TestPages(t *testing.T) {
	for name, o := range cases() {
		t.Run(name, func(t *testing.T) {
			text := written(t, HTML(HTMLOptions{}), o)
			root := parsed(t, text)
			seen := visible(root)
			for _, want := range append([]string{o.Conclusion.Word, "Properties", fmt.Sprint(o.Seed), o.Again}, wordsOf(o)...) {
				if !strings.Contains(seen, strings.Join(strings.Fields(clean(want)), " ")) {
					t.Errorf("%q isn't on the page", want)
				}
			}
			asksForNothing(t, root)
			allowsItself(t, root)
		})
	}
}

// wordsOf are the sentences of each told story, and the names of all properties.
func wordsOf(o *runner.Outcome) []string {
	var out []string
	for _, r := range o.Results {
		out = append(out, plain(r.Property), r.Summary)
	}
	for _, g := range Groups(o.History, o.Results) {
		s := NewStory(o.History, g.Incidents[0], Style{})
		events, _ := s.scene.events()
		for _, e := range events {
			s.shown[e.op] = true
			out = append(out, at(e.at), e.text, e.result)
		}
		out = append(out, s.lead(), s.fence(), g.Incidents[0].Signature)
		out = append(append(out, s.why()...), s.cause()...)
	}
	return out
}

// asksForNothing fails for anything that could make a request, or run beside the page's own script.
func asksForNothing(t *testing.T, root *html.Node) {
	t.Helper()
	each(root, func(n *html.Node) {
		if n.Type != html.ElementNode {
			return
		}
		if slices.Contains([]string{"img", "link", "iframe", "object", "embed", "base", "form", "audio", "video", "source", "image", "use"}, n.Data) {
			t.Errorf("there is a %s", n.Data)
		}
		for _, a := range n.Attr {
			if strings.HasPrefix(a.Key, "on") || a.Key == "src" || a.Key == "style" || a.Key == "href" && !strings.HasPrefix(a.Val, "#") {
				t.Errorf("%s has %s=%q", n.Data, a.Key, a.Val)
			}
		}
	})
}

// allowsItself: the policy names the hashes of the style and of the script, and nothing else.
func allowsItself(t *testing.T, root *html.Node) {
	t.Helper()
	policy, want := "", map[string]string{}
	each(root, func(n *html.Node) {
		switch {
		case n.Data == "meta" && attribute(n, "http-equiv") == "Content-Security-Policy":
			policy = attribute(n, "content")
		case n.Data == "style" && n.Type == html.ElementNode && n.FirstChild != nil:
			want["style-src"] += hashOf(n.FirstChild.Data)
		case n.Data == "script" && n.Type == html.ElementNode && attribute(n, "type") == "":
			want["script-src"] += hashOf(n.FirstChild.Data)
		}
	})
	if expected := fmt.Sprintf("default-src 'none'; style-src %s; script-src %s; base-uri 'none'; form-action 'none'", want["style-src"], want["script-src"]); policy != expected {
		t.Errorf("the policy is\n%s, expected\n%s", policy, expected)
	}
}

// TestPageBody keeps the text and pictures of three pages; what is packed has tests of its own.
func TestPageBody(t *testing.T) {
	for name, o := range map[string]*runner.Outcome{"stale-write": staleWrite(nil), "inconclusive": inconclusive(), "crashed-holder": crashedHolder()} {
		text := written(t, HTML(HTMLOptions{Folder: Folder{Scenario: "name: long-pause", Logs: []Log{{"n1.log", "Ready to accept connections"}}}}), o)
		_, body, ok := strings.Cut(text, "<body>")
		body, _, end := strings.Cut(body, `<script type="application/json"`)
		if !ok || !end {
			t.Fatal("the page has no body, or no facts")
		}
		golden(t, "testdata/"+name+".body.html", body)
	}
}

// TestPlotSummary says nothing of time in which nothing was asked for or granted.
func TestPlotSummary(t *testing.T) {
	some := runner.Part{Attempts: 4, Availability: .5, Acquire: runner.Quantiles{N: 2, P99: ms(12)}}
	none, refused := runner.Part{Availability: 1}, runner.Part{Attempts: 4, Availability: 1}
	for want, m := range map[string]runner.Metrics{
		"In calm time p99 was 12 ms and availability 50.0 %.":                                                      {Calm: some, Faults: none},
		"In calm time p99 was 12 ms and availability 50.0 %; around faults p99 was 12 ms and availability 50.0 %.": {Calm: some, Faults: some},
		"Around faults p99 was 12 ms and availability 50.0 %.":                                                     {Calm: none, Faults: some},
		"In calm time availability was 100 %.":                                                                     {Calm: refused, Faults: none},
		"In calm time availability was 100 %; around faults p99 was 12 ms and availability 50.0 %.":                {Calm: refused, Faults: some},
		"In calm time p99 was 12 ms and availability 50.0 %; around faults availability was 100 %.":                {Calm: some, Faults: refused},
	} {
		if got := plotSummary(&runner.Outcome{Metrics: m}); got != "Acquire latency and availability over the run. "+want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestHostileStringsStayText(t *testing.T) {
	const evil = `</script></style><img src=x onerror=alert(1)>"'`
	o := staleWrite(nil)
	for i := range o.History.Ops {
		op := &o.History.Ops[i]
		op.Error, op.Text, op.Targets = evil, evil, []string{evil}
		if op.Client != "nemesis" {
			op.Client = evil
		}
		if op.Lock != "" {
			op.Lock = evil
		}
	}
	h := &o.History.Header
	h.Clients, h.Nodes, h.Locks[0].Name, h.Resources[0].Name = append(h.Clients, evil), []string{evil}, evil, evil
	h.Faults[0].Kind, h.Faults[0].Text, h.Versions = evil, evil, map[string]string{evil: evil}
	o.Cluster, o.Again, o.Run, o.Lock, o.Kind, o.KindWhy, o.Dir = evil, evil, evil, evil, evil, evil, evil
	for r := range o.Results {
		o.Results[r].Summary, o.Results[r].Why = evil, evil
		for f := range o.Results[r].Findings {
			o.Results[r].Findings[f].Message, o.Results[r].Findings[f].Lock, o.Results[r].Findings[f].Resource = evil, evil, evil
		}
	}
	text := written(t, HTML(HTMLOptions{Folder: Folder{evil, evil, []Log{{evil, evil}}}}), o)
	root := parsed(t, text)
	asksForNothing(t, root)
	allowsItself(t, root)
	if n := strings.Count(visible(root), evil); n < 10 {
		t.Errorf("the string is shown %d times", n)
	}
	if strings.Contains(text, evil) {
		t.Error("the string stands in the page as it is")
	}
}

// TestPagesOfAnything renders histories without any sense.
func TestPagesOfAnything(t *testing.T) {
	for seed := range uint64(300) {
		o := anyOutcome(rand.New(rand.NewPCG(seed, 1)))
		if err := HTML(HTMLOptions{Max: 1 + int(seed%40)})(io.Discard, o); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
	o := cleanRun()
	o.History = nil
	if text := written(t, HTML(HTMLOptions{}), o); strings.Contains(text, "<script") || !strings.Contains(text, "</html>") {
		t.Error("a run without a history has a page of its own, without a script")
	}
}

func TestPageKeepsSecrets(t *testing.T) {
	o := staleWrite(nil)
	o.Cluster, o.History.Ops[3].Error = "redis at hunter2", "auth with hunter2 failed"
	page := written(t, HTML(HTMLOptions{Redact: func(s string) string { return strings.ReplaceAll(s, "hunter2", "***") }, Folder: Folder{Environment: "hunter2"}}), o)
	if strings.Contains(page, "hunter2") || strings.Count(page, "***") < 2 {
		t.Error("a secret is on the page")
	}
	if u := unpack(t, page); slices.ContainsFunc(u.texts, func(s string) bool { return strings.Contains(s, "hunter2") }) || !slices.Contains(u.texts, "auth with *** failed") {
		t.Errorf("texts %q", u.texts)
	}
}

// TestContrast: text in each of its colours can be read on each ground, light and dark.
func TestContrast(t *testing.T) {
	themes := regexp.MustCompile(`(?s)--ground: .*?\n[^}]*`).FindAllString(asset("style.css"), -1)
	if len(themes) < 3 {
		t.Fatalf("%d themes", len(themes))
	}
	for n, theme := range themes {
		colours := map[string]string{}
		for _, m := range regexp.MustCompile(`--([a-z-]+): (#[0-9a-f]{6})`).FindAllStringSubmatch(theme, -1) {
			colours[m[1]] = m[2]
		}
		for _, ground := range []string{"ground", "panel"} {
			for _, ink := range []string{"text", "muted", "hold", "bad", "good", "warn", "doubt", "fault"} {
				if c := contrast(t, colours[ink], colours[ground]); c < 4.5 {
					t.Errorf("theme %d: %s on %s has a contrast of %.2f", n+1, ink, ground, c)
				}
			}
		}
	}
}

func contrast(t *testing.T, a, b string) float64 {
	t.Helper()
	x, y := luminance(t, a), luminance(t, b)
	return (max(x, y) + .05) / (min(x, y) + .05)
}

// luminance is the relative one of WCAG 2.
func luminance(t *testing.T, colour string) float64 {
	t.Helper()
	n, err := strconv.ParseUint(strings.TrimPrefix(colour, "#"), 16, 32)
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for i, weight := range []float64{.2126, .7152, .0722} {
		c := float64(n>>(16-8*i)&255) / 255
		if c <= .04045 {
			c /= 12.92
		} else {
			c = math.Pow((c+.055)/1.055, 2.4)
		}
		sum += weight * c
	}
	return sum
}

// TestFailingPage: what can't be made is an error, and nothing half done is written.
func TestFailingPage(t *testing.T) {
	var b strings.Builder
	panics := func(w io.Writer, _ *runner.Outcome) error {
		io.WriteString(w, "half")
		panic("a mistake")
	}
	if err := Safely(panics)(&b, staleWrite(nil)); err == nil || !strings.Contains(err.Error(), "a mistake") || b.Len() > 0 {
		t.Errorf("%v, and %q was written", err, b.String())
	}
	full := errors.New("no space left")
	if err := HTML(HTMLOptions{})(failing{full}, staleWrite(nil)); !errors.Is(err, full) {
		t.Errorf("a write that fails gives %v", err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestReadFolder(t *testing.T) {
	dir := t.TempDir()
	if f := ReadFolder(dir); f.Scenario != "" || len(f.Logs) != 0 {
		t.Errorf("an empty folder has %+v", f)
	}
	write := func(name, text string) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(runner.ResolvedFile, "name: x\nversion: 1\n")
	write(filepath.Join(runner.LogsDir, "n1.log"), strings.Repeat("an early line\n", 1000)+"the last\x1b[31m line\n")
	write(filepath.Join(runner.LogsDir, "n2.log"), "")
	f := ReadFolder(dir)
	if f.Scenario != "name: x\nversion: 1" || len(f.Logs) != 1 || f.Logs[0].Name != "n1.log" {
		t.Fatalf("%+v", f)
	}
	if tail := f.Logs[0].Tail; len(tail) > maxTail || !strings.HasSuffix(tail, "\nthe last [31m line") || !strings.HasPrefix(tail, "an early line\n") {
		t.Errorf("%d bytes, the end %q", len(tail), tail[len(tail)-40:])
	}
}

// TestFaultTable: what clients met before, during and after, and how long it took until the next grant.
func TestFaultTable(t *testing.T) {
	b := newBook(history.PerGrant, history.IgnoresToken)
	for i, at := range []int{100, 600, 3600, 4100} { // two in the second before the fault, two in the second after its end
		b.acquire("c1", i+1, at, at+10, uint64(i+1))
		b.release("c1", i+1, at+50, at+51, history.OK, "")
	}
	b.op("lost", "c2", history.Acquire, 1500, 2500, history.Op{Grant: 9, Type: history.Info})
	b.op("busy", "c3", history.Acquire, 2600, 2601, history.Op{Grant: 10, Type: history.Fail, Outcome: history.Busy})
	b.fault(1, "partition", "cut off n1", 1000, 3000, "n1")
	b.finish()
	got := htmlFaults(b.outcome(nil, held("mutual-exclusion", "4 holds")), nil)
	if len(got) != 1 || got[0].Before != "100 %" || got[0].In != "50.0 %" || got[0].After != "100 %" || got[0].Recovery != "610 ms" || got[0].Times != "1.000 to 3.000" || got[0].DidNotApply {
		t.Errorf("%+v", got)
	}
	missed := htmlFaults(inconclusive(), nil)
	if len(missed) != 1 || !missed[0].DidNotApply || !strings.HasPrefix(missed[0].Missed, "1: no client held") {
		t.Errorf("%+v", missed)
	}
}

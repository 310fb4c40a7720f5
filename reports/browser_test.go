//go:build browser

package reports

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	cdppage "github.com/chromedp/cdproto/page"
	cdpruntime "github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/locktest/locktest/history"
	"github.com/locktest/locktest/runner"
)

const evil = `</script><img src=x onerror=alert(1)>"'&lt;`

// browser starts Chromium, which ends with the test.
func browser(t testing.TB) context.Context {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil && path == "" {
			path = found
		}
	}
	if path == "" {
		t.Fatal("chromium is missing: make deps, or apt-get install chromium")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("disable-dev-shm-usage", true), chromedp.WindowSize(1280, 900), chromedp.WSURLReadTimeout(time.Minute))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(cancel)
	ctx, end := chromedp.NewContext(ctx)
	t.Cleanup(end)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("start chromium: %v", err)
	}
	return ctx
}

// tab is one page, and what it did that it should not.
type tab struct {
	t   testing.TB
	ctx context.Context
	mu  sync.Mutex
	bad []string
}

func (b *tab) wrong(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.bad = append(b.bad, fmt.Sprintf(format, args...))
}

// open opens a report from its file, without a network. Scripts may be off.
func open(t testing.TB, parent context.Context, file string, scripts bool) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(parent)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(err)
	}
	ctx, late := context.WithTimeout(ctx, 2*time.Minute)
	t.Cleanup(late)
	b := &tab{t: t, ctx: ctx}
	url := "file://" + file
	err := chromedp.Listen(ctx, func(e any) {
		switch e := e.(type) {
		case *network.EventRequestWillBeSent:
			if e.Request.URL != url && !strings.HasPrefix(e.Request.URL, url+"#") {
				b.wrong("it asked for %s", e.Request.URL)
			}
		case *cdpruntime.EventExceptionThrown:
			b.wrong("exception: %+v", e.ExceptionDetails.Exception)
		case *cdpruntime.EventConsoleAPICalled:
			b.wrong("console: %s", e.Type)
		case *log.EventEntryAdded:
			b.wrong("log: %s %s", e.Entry.Level, e.Entry.Text)
		case *cdppage.EventJavascriptDialogOpening:
			b.wrong("dialog: %s", e.Message)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	call(b, network.Enable, network.EnableParams{})
	call(b, log.Enable, cdp.Empty{})
	call(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !scripts})
	call(b, network.OverrideNetworkState, network.OverrideNetworkStateParams{Offline: true})
	b.do(chromedp.Navigate(url))
	if scripts {
		b.wait(`document.documentElement.dataset.ready`)
	}
	t.Cleanup(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if len(b.bad) > 0 {
			t.Errorf("%s: %s", file, strings.Join(b.bad, "; "))
		}
	})
	return b
}

func (b *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

// call sends one command of the protocol.
func call[P, R any](b *tab, command cdp.Command[P, R], params P) {
	b.t.Helper()
	if _, err := chromedp.Call(b.ctx, command, params); err != nil {
		b.t.Fatal(err)
	}
}

// value evaluates an expression.
func value[T any](b *tab, expression string) T {
	b.t.Helper()
	out, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return out
}

// wait waits until an expression is true.
func (b *tab) wait(expression string) {
	b.t.Helper()
	for end := time.Now().Add(time.Minute); ; {
		if value[bool](b, "!!("+expression+")") {
			return
		}
		if time.Now().After(end) {
			b.t.Fatalf("never true: %s; status: %s; %s", expression, value[string](b, `document.getElementById("status")?.textContent || ""`), strings.Join(b.bad, "; "))
		}
		select {
		case <-b.ctx.Done():
			b.t.Fatal(b.ctx.Err())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// key presses and lets go of a key. What it would type comes with the press, as from a keyboard: the page may prevent it.
func (b *tab) key(k string) {
	b.t.Helper()
	text := k
	if k == "Escape" {
		text = ""
	}
	call(b, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: "keyDown", Key: k, Text: text})
	call(b, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: "keyUp", Key: k})
}

func (b *tab) text(selector string) string {
	b.t.Helper()
	return value[string](b, fmt.Sprintf("document.querySelector(%q).innerText", selector))
}

// picture keeps a screenshot as output of the test.
func (b *tab) picture(name string) {
	b.t.Helper()
	dir := os.Getenv("LOCKTEST_SCREENSHOTS")
	if dir == "" {
		dir = b.t.ArtifactDir()
	}
	png, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644); err != nil {
		b.t.Fatal(err)
	}
	if len(png) < 5000 {
		b.t.Errorf("%s: a picture of %d bytes shows nothing", name, len(png))
	}
}

func reportOf(t testing.TB, o *runner.Outcome, options HTMLOptions) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(file, []byte(written(t, HTML(options), o)), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// inked counts the pixels of a canvas that aren't its ground.
func inked(id string) string {
	return fmt.Sprintf(`(() => { const c = document.getElementById(%q), d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data; let n = 0; for (let i = 4; i < d.length; i += 4) if (d[i] !== d[0] || d[i+1] !== d[1] || d[i+2] !== d[2]) n++; return n })()`, id)
}

func TestBrowserShowsEachVerdict(t *testing.T) {
	ctx := browser(t)
	for name, o := range map[string]*runner.Outcome{"violated": staleWrite(nil), "clean": cleanRun(), "inconclusive": inconclusive()} {
		t.Run(name, func(t *testing.T) {
			b := open(t, ctx, reportOf(t, o, HTMLOptions{}), true)
			if text := b.text("h1"); !strings.Contains(text, o.Conclusion.Word) {
				t.Errorf("the banner says %q", text)
			}
			for _, id := range []string{"map", "lanes", "panels"} {
				if n := value[int](b, inked(id)); n < 100 {
					t.Errorf("%d pixels are drawn on %s", n, id)
				}
			}
			b.picture(name)
			b.do(chromedp.Evaluate[chromedp.Void](`document.getElementById("run").scrollIntoView()`))
			b.picture(name + "-run")
		})
	}
}

func TestBrowserWithoutScripts(t *testing.T) {
	b := open(t, browser(t), reportOf(t, staleWrite(nil), HTMLOptions{}), false)
	text := b.text("body")
	for _, want := range []string{"VIOLATED", "What happened", "resumed, after 3.212 s", "STALE", "Why this is a violation", "resource safety", "pause c2", "locktest run runs/"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q isn't to be seen", want)
		}
	}
	if n := value[int](b, `document.querySelectorAll("svg.diagram .hold").length`); n < 2 {
		t.Errorf("%d holds in the diagram", n)
	}
	if value[bool](b, `document.documentElement.classList.contains("scripted") || document.getElementById("run").offsetHeight > 0`) {
		t.Error("what needs scripts is shown")
	}
	if value[float64](b, `document.querySelector("svg.plot").getBoundingClientRect().height`) < 50 {
		t.Error("there is no plot")
	}
	b.picture("violated-without-scripts")
}

func TestBrowserKeys(t *testing.T) {
	b := open(t, browser(t), reportOf(t, staleWrite(nil), HTMLOptions{}), true)
	b.key("n")
	if s := b.text("#status"); !strings.Contains(s, "violation 1 of 1") {
		t.Errorf("n: %q", s)
	}
	b.wait(`!document.getElementById("window").textContent.startsWith("0.000 to")`)
	b.key("p")
	b.key("j")
	first := b.text(".row.chosen")
	b.key("j")
	second := b.text(".row.chosen")
	b.key("k")
	if again := b.text(".row.chosen"); first == second || again != first {
		t.Errorf("j and k: %q, %q, %q", first, second, again)
	}
	if d := b.text("#detail"); !strings.Contains(d, "acquire") {
		t.Errorf("the chosen row isn't described: %q", d)
	}
	b.key("f")
	if s := b.text("#status"); !strings.Contains(s, "fault 1") {
		t.Errorf("f: %q", s)
	}
	b.key("/")
	if id := value[string](b, `document.activeElement.id`); id != "filter" {
		t.Errorf("/ leads to %q", id)
	}
	b.do(chromedp.SendKeys(chromedp.CSS("#filter"), "client:c4 op:write"))
	b.wait(`document.getElementById("matches").textContent.startsWith("1 of")`)
	if row := b.text("#rows-body .row"); !strings.Contains(row, "c4") || !strings.Contains(row, "write") {
		t.Errorf("the filter found %q", row)
	}
	b.key("Escape")
	b.wait(`document.getElementById("filter").value === "" && document.activeElement === document.body`)
	b.wait(`document.getElementById("window").textContent.startsWith("0.000 to")`)
	b.do(chromedp.Click(chromedp.CSS("#filter")), chromedp.SendKeys(chromedp.CSS("#filter"), "outcome:not-held"))
	b.wait(`document.getElementById("matches").textContent.startsWith("1 of")`)
	for filter, want := range map[string]string{"result:not-held": "1 of", "t:13.5..14 op:acquire": "1 of", "t:13.5..14s op:write": "0 of", "t:..12.004 op:acquire": "1 of", "t:15900ms..": "3 of"} {
		b.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`location.hash = "#q=" + encodeURIComponent(%q)`, filter)))
		b.wait(fmt.Sprintf(`document.getElementById("filter").value === %q && document.getElementById("matches").textContent.startsWith(%q)`, filter, want))
	}
	b.do(chromedp.Click(chromedp.CSS("table.events a")))
	b.wait(`document.getElementById("window").textContent.startsWith("10.")`)
}

// What is left open lasts until the history's end, also of a client that crashed.
func TestBrowserCallsLeftOpen(t *testing.T) {
	b := open(t, browser(t), reportOf(t, crashedHolder(), HTMLOptions{}), true)
	for filter, want := range map[string]string{"t:4..4.5 result:open": "2 of", "t:4..4.5 outcome:ok": "0 of", "t:2.9..3 op:acquire": "2 of"} {
		b.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`location.hash = "#q=" + encodeURIComponent(%q)`, filter)))
		b.wait(fmt.Sprintf(`document.getElementById("filter").value === %q && document.getElementById("matches").textContent.startsWith(%q)`, filter, want))
	}
}

func TestBrowserLightAndDark(t *testing.T) {
	b := open(t, browser(t), reportOf(t, staleWrite(nil), HTMLOptions{}), true)
	ground := `getComputedStyle(document.body).backgroundColor`
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}})
	b.wait(ground + ` === "rgb(18, 22, 28)"`)
	b.picture("violated-dark")
	b.key("t")
	b.wait(ground + ` === "rgb(255, 255, 255)"`)
	b.key("t")
	b.wait(ground + ` === "rgb(18, 22, 28)"`)
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
	b.wait(ground + ` === "rgb(255, 255, 255)"`)
	if value[bool](b, `document.getElementById("run").offsetHeight > 0 || document.querySelector("svg.plot").getBoundingClientRect().height === 0`) {
		t.Error("in print the canvases are shown, or the plot isn't")
	}
	b.picture("violated-print")
}

func TestBrowserHostileStrings(t *testing.T) {
	o := staleWrite(nil)
	h := o.History
	h.Header.Locks[0].Name, h.Header.Resources[0].Name = evil, evil
	for i := range h.Ops {
		op := &h.Ops[i]
		if op.Lock != "" {
			op.Lock = evil
		}
		if op.Resource != "" {
			op.Resource = evil
		}
		if op.Type != history.Invoke {
			op.Error = "server says " + evil
		}
	}
	for r := range o.Results {
		for f := range o.Results[r].Findings {
			o.Results[r].Findings[f].Lock, o.Results[r].Findings[f].Message = evil, "about "+evil
		}
	}
	o.Cluster, o.Again = evil, "locktest "+evil
	b := open(t, browser(t), reportOf(t, o, HTMLOptions{Folder: Folder{Scenario: evil, Logs: []Log{{evil, "log " + evil}}}}), true)
	if n := value[int](b, `document.images.length + document.querySelectorAll("[onerror]").length`); n != 0 {
		t.Errorf("%d elements came out of strings", n)
	}
	for _, selector := range []string{"#stories", "#rows-body", "header"} {
		if text := b.text(selector); !strings.Contains(text, evil) {
			t.Errorf("%s doesn't show the string as text: %s", selector, text)
		}
	}
	if text := value[string](b, `[...document.querySelectorAll("details pre")].map(p => p.textContent).join("\n")`); !strings.Contains(text, "log "+evil) {
		t.Errorf("the log isn't shown as text: %s", text)
	}
	b.key("n")
	b.key("j")
	b.do(chromedp.SendKeys(chromedp.CSS("#filter"), "onerror=alert"))
	b.wait(`!document.getElementById("matches").textContent.startsWith("0 of")`)
	b.picture("hostile")
}

func TestBrowserHundredThousand(t *testing.T) {
	file := reportOf(t, synthetic(100_000), HTMLOptions{})
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > 2<<20 {
		t.Errorf("100 000 operations take %d bytes", info.Size())
	}
	b := open(t, browser(t), file, true)
	t.Logf("%.2f MB; interactive after %s ms", float64(info.Size())/(1<<20), value[string](b, `document.documentElement.dataset.ready`))
	if text := b.text("#matches"); !strings.HasPrefix(text, "100 0") {
		t.Errorf("%q", text)
	}
	if n := value[int](b, `document.querySelectorAll("*").length`); n > 3000 {
		t.Errorf("%d elements", n)
	}
	b.do(chromedp.SendKeys(chromedp.CSS("#filter"), "client:c7 outcome:unknown"))
	b.wait(`document.getElementById("matches").textContent.length > 0 && !document.getElementById("matches").textContent.startsWith("100 0")`)
	if row := b.text("#rows-body .row"); !strings.Contains(row, "c7") || !strings.Contains(row, "i/o timeout") {
		t.Errorf("the filter found %q", row)
	}
	b.key("Escape")
	b.key("n")
	if s := b.text("#status"); !strings.Contains(s, "violation 1 of 1") {
		t.Errorf("n: %q", s)
	}
	b.picture("hundred-thousand")
	b.do(chromedp.Evaluate[chromedp.Void](`location.hash = "#q=is:violation"`))
	b.wait(`document.getElementById("matches").textContent.startsWith("1 of")`)
}

func TestBrowserAboveTheCap(t *testing.T) {
	b := open(t, browser(t), reportOf(t, synthetic(20_000), HTMLOptions{Max: 2_000}), true)
	if text := b.text("#cap"); !strings.Contains(text, "operations and events are in this page") {
		t.Errorf("the notice says %q", text)
	}
	b.do(chromedp.SendKeys(chromedp.CSS("#filter"), "is:violation"))
	b.wait(`document.getElementById("matches").textContent.startsWith("1 of")`)
}

// BenchmarkPage prints how large a page is, how long it takes to write, and until it can be used.
func BenchmarkPage(b *testing.B) {
	ctx := browser(b)
	for _, n := range []int{10_000, 100_000, 1_000_000} {
		o := synthetic(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			size, ready := int64(0), 0
			var writing time.Duration
			for b.Loop() {
				began := time.Now()
				file := reportOf(b, o, HTMLOptions{Max: 2 * n})
				writing = time.Since(began)
				info, err := os.Stat(file)
				if err != nil {
					b.Fatal(err)
				}
				size = info.Size()
				goruntime.GC() // what the making of the page has left isn't to disturb its use
				var all []int
				for range 3 {
					all = append(all, value[int](open(b, ctx, file, true), `Number(document.documentElement.dataset.ready)`))
				}
				slices.Sort(all)
				ready = all[1]
			}
			b.ReportMetric(float64(size)/(1<<20), "MB")
			b.ReportMetric(float64(writing.Milliseconds()), "ms-to-write")
			b.ReportMetric(float64(ready), "ms-to-use")
		})
	}
}

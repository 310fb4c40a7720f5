package history

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func lease() Contract { return Contract{Expiry: Lease, Tokens: PerGrant, OwnerChecked: true} }

func imported(t *testing.T, text string, want Format) *History {
	t.Helper()
	h, f, err := Import(strings.NewReader(text), lease())
	if err != nil {
		t.Fatal(err)
	}
	if f != want {
		t.Errorf("taken for %s, want %s", f, want)
	}
	return h
}

func TestImportLog(t *testing.T) {
	h := imported(t, `
{"op":"release","lock":"orders","client":"w1","start":"2026-01-31T12:00:01Z","end":"2026-01-31T12:00:01.5Z","result":"not-held"}
{"op":"acquire","lock":"orders","client":"w1","start":"2026-01-31T12:00:00Z","end":"2026-01-31T12:00:00.25Z","token":7,"ttl":2,"valid_until":"2026-01-31T12:00:00.9Z","owner":"x"}
{"op":"acquire","lock":"orders","client":"w2","start":1769860801}
{"op":"lost","lock":"orders","client":"w1","start":1769860800.75}
`, FormatLog)
	ms := time.Millisecond
	want := []Op{
		{Index: 0, Time: 0, Client: "w1", Type: Invoke, F: Acquire, Lock: "orders", Grant: 1, Owner: "x", TTL: 2 * time.Second},
		{Index: 1, Time: 250 * ms, Client: "w1", Type: OK, F: Acquire, Lock: "orders", Grant: 1, Owner: "x", TTL: 2 * time.Second, Token: 7, Valid: 900 * ms},
		{Index: 2, Time: 750 * ms, Client: "w1", Type: Lost, Lock: "orders", Grant: 1},
		{Index: 3, Time: 1000 * ms, Client: "w1", Type: Invoke, F: Release, Lock: "orders", Grant: 1},
		{Index: 4, Time: 1000 * ms, Client: "w2", Type: Invoke, F: Acquire, Lock: "orders", Grant: 2},
		{Index: 5, Time: 1000 * ms, Client: "w2", Type: Info, F: Acquire, Lock: "orders", Grant: 2},
		{Index: 6, Time: 1500 * ms, Client: "w1", Type: Fail, F: Release, Lock: "orders", Grant: 1, Outcome: NotHeld},
	}
	if diff := cmp.Diff(want, h.Ops); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]Lock{{Name: "orders", Provider: "import", Contract: lease()}}, h.Header.Locks); diff != "" {
		t.Errorf("locks (-want +got):\n%s", diff)
	}
}

func TestImportEDN(t *testing.T) {
	h := imported(t, `[{:type :invoke, :f :acquire, :process 0, :time 5, :value nil, :index 0}
#jepsen.history.Op{:type :info, :f :start, :process :nemesis, :time 6, :value {:a [1 2 "x]"]}}
{:type :ok, :f :acquire, :process 0, :time 7} ; granted
{:type :info :f :start :process :nemesis :time 8}
{:type :invoke, :f :release, :process 0, :time 9}
{:type :fail, :f :release, :process 0, :time 10, :error [:not-found "lease not found"]}
{:type :info :f :stop :process :nemesis :time 11} {:type :info :f :stop :process :nemesis :time 12}]`, FormatEDN)
	want := []Op{
		{Index: 0, Time: 5, Client: "p0", Type: Invoke, F: Acquire, Lock: "lock", Grant: 1},
		{Index: 1, Time: 6, Client: "nemesis", Type: FaultBegin, F: "nemesis"},
		{Index: 2, Time: 7, Client: "p0", Type: OK, F: Acquire, Lock: "lock", Grant: 1},
		{Index: 3, Time: 9, Client: "p0", Type: Invoke, F: Release, Lock: "lock", Grant: 1},
		{Index: 4, Time: 10, Client: "p0", Type: Fail, F: Release, Lock: "lock", Grant: 1, Outcome: NotHeld, Error: `[:not-found "lease not found"]`},
		{Index: 5, Time: 12, Client: "nemesis", Type: FaultEnd, F: "nemesis"},
	}
	if diff := cmp.Diff(want, h.Ops); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestImportAtlasDB(t *testing.T) {
	h := imported(t, `[
{"type":"invoke","f":"lock","process":1,"time":0,"value":"bob"},
{"type":"ok","f":"lock","process":1,"time":2,"value":"LockRefreshToken [tokenId=a]"},
{"type":"invoke","f":"lock","process":2,"time":1,"value":"bob"},
{"type":"ok","f":"lock","process":2,"time":3,"value":""},
{"type":"invoke","f":"unlock","process":1,"time":4,"value":"bob"},
{"type":"ok","f":"unlock","process":1,"time":5,"result":"failure"},
{"type":"invoke","f":"read-operation","process":3,"time":6,"value":null},
{"type":"ok","f":"read-operation","process":3,"time":7,"value":12}]`, FormatAtlasDB)
	want := []Op{
		{Index: 0, Time: 0, Client: "p1", Type: Invoke, F: Acquire, Lock: "bob", Grant: 1},
		{Index: 1, Time: 1, Client: "p2", Type: Invoke, F: Acquire, Lock: "bob", Grant: 2},
		{Index: 2, Time: 2, Client: "p1", Type: OK, F: Acquire, Lock: "bob", Grant: 1},
		{Index: 3, Time: 3, Client: "p2", Type: Fail, F: Acquire, Lock: "bob", Grant: 2, Outcome: Busy},
		{Index: 4, Time: 4, Client: "p1", Type: Invoke, F: Release, Lock: "bob", Grant: 1},
		{Index: 5, Time: 5, Client: "p1", Type: Fail, F: Release, Lock: "bob", Grant: 1, Outcome: NotHeld},
		{Index: 6, Time: 6, Client: "p3", Type: Invoke, F: Acquire, Lock: "timestamps", Grant: 3},
		{Index: 7, Time: 7, Client: "p3", Type: OK, F: Acquire, Lock: "timestamps", Grant: 3, Token: 12},
	}
	if diff := cmp.Diff(want, h.Ops); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestImportErrors(t *testing.T) {
	const acquire = `{"op":"acquire","lock":"L","client":"a","start":10,"end":12}`
	tests := map[string]struct{ text, want string }{
		"log: unknown field":      {`{"op":"acquire","lok":"L"}`, `line 1: not a history: json: unknown field "lok"`},
		"log: no start":           {`{"op":"acquire","lock":"L","client":"a"}`, `line 1: not a history: start: nothing is neither a time nor seconds since 1970`},
		"log: bad time":           {`{"op":"acquire","lock":"L","client":"a","start":"noon"}`, `line 1: not a history: start: "noon" is not as in 2026-01-31T12:00:00.123Z`},
		"log: no operation":       {`{"op":"dance","lock":"L","client":"a","start":1}`, `line 1: not a history: op is "dance", want acquire, extend, release, lost or crash`},
		"log: no client":          {`{"op":"acquire","lock":"L","start":1}`, `line 1: not a history: client and lock must be named`},
		"log: ends before":        {`{"op":"acquire","lock":"L","client":"a","start":2,"end":1}`, `line 1: not a history: it ends before it starts`},
		"log: no result":          {`{"op":"acquire","lock":"L","client":"a","start":2,"end":3,"result":"well"}`, `line 1: not a history: result is "well", want ok, busy, not-held, gone, failed or unknown`},
		"log: two at once":        {acquire + "\n" + `{"op":"release","lock":"L","client":"a","start":11,"end":13}`, `line 2: not a history: a begins an operation before its last one, of line 1, had ended`},
		"edn: two at once":        {"{:type :invoke, :f :acquire, :process 0, :time 1}\n{:type :invoke, :f :acquire, :process 0, :time 2}", `line 2: not a history: p0 begins an operation before its last one, at line 1, was answered`},
		"edn: time backwards":     {"{:type :invoke, :f :acquire, :process 0, :time 9}\n{:type :ok, :f :acquire, :process 0, :time 2}", `line 2: not a history: it was answered before it was called, at line 1`},
		"edn: answers nothing":    {"{:type :ok, :f :acquire, :process 0, :time 9}", `line 1: not a history: p0 answers an operation that it has not begun`},
		"edn: no time":            {"{:type :ok, :f :acquire, :process 0}", `line 1: not a history: it has no :time in nanoseconds`},
		"edn: no lock's":          {"{:type :invoke, :f :cas, :process 0, :time 1}", `line 1: not a history: "cas" is no operation of a lock: want acquire or release`},
		"edn: cut off":            {"[{:type :invoke, :f :acquire", `line 1: not a history: it ends within a map`},
		"atlasdb: no operation":   {`[{"type":"invoke","f":"cas","process":1,"time":1}]`, `record 0: not a history: "cas" is no operation: want lock, refresh, unlock or read-operation`},
		"atlasdb: time backwards": {`[{"type":"invoke","f":"lock","process":1,"time":5,"value":"L"},{"type":"ok","f":"lock","process":1,"time":6,"value":"t"},{"type":"invoke","f":"lock","process":1,"time":5,"value":"L"}]`, `record 2: not a history: time runs backwards for p1, from 6ns to 5ns`},
		"edn: far time":           {"{:type :invoke, :f :acquire, :process 0, :time 9000000000000000000}", `acquire of p0 at 2500000h0m0s: not a history: t_ns is 9000000000000000000 (2500000h0m0s), expected 0 to 315360000000000000 (10 years)`},
		"jsonl: foreign schema":   {`{"schema":"other/1"}`, ``},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, _, err := Import(strings.NewReader(tt.text), lease())
			if err == nil || tt.want != "" && err.Error() != tt.want {
				t.Errorf("got %v\nwant %s", err, tt.want)
			}
		})
	}
}

func TestImportRefusesPromises(t *testing.T) {
	c := lease()
	c.TTL = -time.Second
	_, _, err := Import(strings.NewReader(`{"op":"acquire","lock":"L","client":"a","start":10,"end":12}`), c)
	if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "what the lock promises: ") {
		t.Errorf("got %v", err)
	}
}

// FuzzImport: whatever comes, what is read keeps our rules: indexes and times in order, one operation at a time.
func FuzzImport(f *testing.F) {
	f.Add(`{"op":"acquire","lock":"L","client":"a","start":10,"end":12,"ttl":1.5}`)
	f.Add("[{:type :invoke, :f :acquire, :process 0, :time 1}\n#x{:type :info, :f :acquire, :process 0, :time 2 :error \"a\\\"b\"}]")
	f.Add(`[{"type":"invoke","f":"lock","process":1,"time":0,"value":"bob"},{"type":"ok","f":"lock","process":1,"time":2,"value":""}]`)
	f.Add("a:A[0,10] b:A[20,30]")
	f.Add(`{"op":"acquire","lock":"L","client":"a","start":10,"end":12}` + "\n" + `{"op":"crash","client":"b","start":20}`)
	f.Fuzz(func(t *testing.T, text string) {
		keepsRules(t, text, Contract{})
		keepsRules(t, text, Contract{Expiry: Lease, TTL: time.Second})
	})
}

func keepsRules(t *testing.T, text string, c Contract) {
	h, format, err := Import(strings.NewReader(text), c)
	if err != nil || format == FormatJSONL {
		return
	}
	open := map[string]bool{}
	var last time.Duration
	for i, o := range h.Ops {
		key := o.Client + string(rune(o.Thread))
		switch {
		case o.Index != i || o.Time < last:
			t.Fatalf("event %d has index %d, time %v after %v", i, o.Index, o.Time, last)
		case o.Type == Invoke && open[key], o.Completes() && !open[key]:
			t.Fatalf("event %d, %s %s of %s, breaks the rule of one operation at a time", i, o.Type, o.F, o.Client)
		}
		open[key] = o.Type == Invoke || open[key] && !o.Completes()
		last = o.Time
	}
}

// What has no history in it is refused, and what is in no form that is known hears which ones there are.
func TestImportNothing(t *testing.T) {
	for text, want := range map[string]string{
		"":                          "the file is empty: it has no history",
		" \n\t\n":                   "the file is empty: it has no history",
		"[]":                        "no operation is in it",
		"# only a comment\n":        "no operation is in it",
		"lock orders expiry=none\n": "no operation is in it",
		"null":                      "AtlasDB's JSON array, or a log",
		"\x1f\x8b\x08\x00\xff":      "docs/history.md",
		"version: 1\nname: x\n":     "docs/history.md",
	} {
		if _, _, err := Import(strings.NewReader(text), Contract{Expiry: NoExpiry}); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	if _, _, err := Import(strings.NewReader("[]"), Contract{Expiry: Lease, TTL: time.Second}); !errors.Is(err, ErrFormat) {
		t.Errorf("no operation of a lease: %v", err)
	}
	if _, _, err := Import(strings.NewReader("# by hand\n\na:A[0,10]\n"), Contract{}); err != nil {
		t.Errorf("text: %v", err)
	}
}

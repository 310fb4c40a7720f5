package history

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func sample() *History {
	return &History{
		Header: Header{Schema: Schema, Seed: 42, Clients: []string{"c1"}, Locks: []Lock{{Name: "orders", Provider: "memory/lease", Contract: Contract{Expiry: Lease, TTL: time.Second, Tokens: PerGrant}}}},
		Ops: []Op{
			{Index: 0, Time: 5, Client: "c1", Process: 1, Type: Invoke, F: Acquire, Lock: "orders", Grant: 1, TTL: time.Second},
			{Index: 1, Time: 7, Client: "c1", Process: 1, Type: OK, F: Acquire, Lock: "orders", Grant: 1, Owner: "c1-1", Token: 1 << 63, Valid: 99},
			{Index: 2, Time: 7, Client: "nemesis", Process: 1, Type: FaultBegin, F: "pause", Fault: 1, Targets: []string{"c1", "c2"}, Planned: 6, Text: "pause \"c1\"\n"},
			{Index: 3, Time: 8, Client: "c1", Process: 1, Type: Invoke, F: Write, Resource: "r", Value: -3, Base: 2, Data: json.RawMessage(`{"n":[1,{"a":"}"}]}`)},
			{Index: 4, Time: 9, Client: "c1", Process: 1, Type: Fail, F: Write, Outcome: Rejected, Error: "tökèn  <old>"},
		},
	}
}

func TestJSONLRoundTrip(t *testing.T) {
	want := sample()
	var b bytes.Buffer
	if err := WriteJSONL(&b, want); err != nil {
		t.Fatal(err)
	}
	got, err := ReadJSONL(&b)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// How long a history is gets estimated from its first lines, which may be longer or shorter than the rest.
func TestLinesOfAnyLength(t *testing.T) {
	for name, long := range map[string]func(i int) bool{
		"long first":  func(i int) bool { return i < 3000 },
		"short first": func(i int) bool { return i >= 3000 },
	} {
		want := &History{Header: Header{Schema: Schema}}
		for i := range 9000 {
			op := Op{Index: i, Client: "c1", Type: Observed}
			if long(i) {
				op.Text = strings.Repeat("x", 300)
			}
			want.Ops = append(want.Ops, op)
		}
		path := filepath.Join(t.TempDir(), "history.jsonl")
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(WriteJSONL(f, want), f.Close()); err != nil {
			t.Fatal(err)
		}
		got, err := LoadJSONL(path)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// Every field that Op has must survive: a field that a codec forgets is a piece of evidence that is lost.
func TestEveryFieldIsWritten(t *testing.T) {
	var op Op
	v := reflect.ValueOf(&op).Elem()
	for i := range v.NumField() {
		switch f := v.Field(i); f.Kind() {
		case reflect.String:
			f.SetString("x" + v.Type().Field(i).Name)
		case reflect.Int, reflect.Int64:
			f.SetInt(int64(i + 1))
		case reflect.Uint64:
			f.SetUint(uint64(i + 1))
		}
	}
	op.Type, op.Data, op.Targets = Observed, json.RawMessage("1"), []string{"n1"}
	d := newDecoder()
	var got Op
	if err := d.decode(AppendJSON(nil, &op), &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(op, got); diff != "" {
		t.Error(diff)
	}
}

func TestReadJSONLRefuses(t *testing.T) {
	head := `{"schema":"locktest.history/1","began":"2026-01-01T00:00:00Z","seed":1,"bounds":{},"clock_error_ns":0}` + "\n"
	for name, c := range map[string]struct{ text, want string }{
		"empty":             {"", "line 1"},
		"other schema":      {`{"schema":"x/9"}` + "\n", `schema is "x/9", expected "locktest.history/1"`},
		"not JSON":          {head + "hello\n" + `{"index":0}` + "\n", "line 2"},
		"unknown field":     {head + `{"index":0,"t_ns":1,"type":"invoke","colour":"red"}` + "\n", "colour: unknown field"},
		"unknown type":      {head + `{"index":0,"t_ns":1,"type":"maybe"}` + "\n", `unknown type "maybe"`},
		"no type":           {head + `{"index":0,"t_ns":1}` + "\n", "no type"},
		"gap":               {head + `{"index":1,"t_ns":1,"type":"crash"}` + "\n", "index is 1, expected 0"},
		"time backwards":    {head + `{"index":0,"t_ns":5,"type":"crash"}` + "\n" + `{"index":1,"t_ns":4,"type":"crash"}` + "\n", "line 3: not a history: time runs backwards"},
		"two open":          {head + `{"index":0,"t_ns":1,"client":"c1","process":1,"type":"invoke","f":"read"}` + "\n" + `{"index":1,"t_ns":2,"client":"c1","process":1,"type":"invoke","f":"write"}` + "\n", "begins write while its read of index 0 is open"},
		"end without begin": {head + `{"index":0,"t_ns":1,"client":"c1","type":"ok","f":"read"}` + "\n", "ends a read that it did not begin"},
		"other answer": {head + `{"index":0,"t_ns":1,"client":"c1","type":"invoke","f":"acquire","lock":"L","grant":8}` + "\n" + `{"index":1,"t_ns":2,"client":"c1","type":"ok","f":"acquire","lock":"L","grant":6}` + "\n",
			"line 3: not a history: the answer to the acquire of index 0 is of grant 6, but it was asked for grant 8"},
		"other lock": {head + `{"index":0,"t_ns":1,"client":"c1","type":"invoke","f":"release","lock":"L","grant":8}` + "\n" + `{"index":1,"t_ns":2,"client":"c1","type":"ok","f":"release","lock":"M","grant":8}` + "\n",
			`line 3: not a history: the answer to the release of index 0 is of lock "M"`},
		"grant twice": {head + `{"index":0,"t_ns":1,"client":"c1","type":"invoke","f":"acquire","lock":"L","grant":8}` + "\n" + `{"index":1,"t_ns":2,"client":"c2","type":"invoke","f":"acquire","lock":"L","grant":8}` + "\n",
			"line 3: not a history: c2 acquires with grant 8, which another acquire has"},
		"grant twice, large": {head + `{"index":0,"t_ns":1,"client":"c1","type":"invoke","f":"acquire","grant":8000000000000}` + "\n" + `{"index":1,"t_ns":2,"client":"c2","type":"invoke","f":"acquire","grant":8000000000000}` + "\n",
			"line 3: not a history: c2 acquires with grant 8000000000000"},
		"negative grant":   {head + `{"index":0,"t_ns":1,"client":"c1","type":"invoke","f":"acquire","grant":-8}` + "\n", "line 2: not a history: grant is -8"},
		"negative TTL":     {head + `{"index":0,"t_ns":1,"client":"c1","type":"invoke","f":"acquire","ttl_ns":-1}` + "\n", "line 2: not a history: ttl_ns is -1"},
		"endless TTL":      {head + `{"index":0,"t_ns":1,"client":"c1","type":"invoke","f":"acquire","ttl_ns":9000000000000000000}` + "\n", "ttl_ns is 9000000000000000000"},
		"endless validity": {head + `{"index":0,"t_ns":1,"client":"c1","type":"renewed","grant":1,"valid_until_ns":9000000000000000000}` + "\n", "valid_until_ns is 9000000000000000000"},
		"negative time":    {head + `{"index":0,"t_ns":-1,"client":"c1","type":"crash"}` + "\n", "t_ns is -1"},
		"many permits":     {head + `{"index":0,"t_ns":1,"client":"c1","type":"invoke","f":"acquire","permits":2000000000}` + "\n", "permits is 2000000000, expected 0 to 1000000000"},
		"unknown f":        {head + `{"index":0,"t_ns":1,"client":"c1","type":"invoke","f":"steal"}` + "\n", `line 2: not a history: f is "steal", expected acquire, extend, release, read or write`},
		"unknown mode":     {head + `{"index":0,"t_ns":1,"client":"c1","type":"invoke","f":"acquire","mode":"odd"}` + "\n", `mode is "odd", expected exclusive or shared`},
		"key twice":        {head + `{"index":0,"t_ns":1,"client":"c1","type":"crash","client":"c2"}` + "\n", "line 2: not a history: byte 59: client: it is there twice"},
		"long line":        {head + `{"index":0,"t_ns":1,"client":"c1","type":"crash"}` + "\n\n" + strings.Repeat("x", maxLine+1) + "\n", "line 4: not a history: it is longer than 16 MiB"},
		"long header":      {strings.Repeat("x", maxLine+1), "line 1: not a history: it is longer than 16 MiB"},
		"header field":     {header(`"clock_eror_ns":7`), `line 1: header: not a history: unknown field "clock_eror_ns": did you mean "clock_error_ns"?`},
		"strange field":    {header(`"colour":7`), `line 1: header: not a history: unknown field "colour"`},
		"contract field":   {header(`"locks":[{"name":"L","provider":"p","contract":{"expire":"lease"}}]`), `unknown field "expire": did you mean "expiry"?`},
		"header trailing":  {`{"schema":"locktest.history/1"} {"seed":1}` + "\n", `line 1: not a history: header: something follows the object: "{\"seed\":1}"`},
		"clock error":      {header(`"clock_error_ns":-5`), "clock_error_ns is -5"},
		"pipe delay":       {header(`"pipe_delay_ns":-5`), "pipe_delay_ns is -5"},
		"bound":            {header(`"bounds":{"recover_within_ns":-5}`), "recover_within_ns is -5"},
		"least acquires":   {header(`"bounds":{"min_acquires":-5}`), "min_acquires is -5"},
		"drift":            {contract(`"drift":1`), `lock "L": not a history: drift is 1, expected at least 0 and less than 1`},
		"negative drift":   {contract(`"drift":-0.1`), "drift is -0.1"},
		"contract TTL":     {contract(`"ttl_ns":-1000`), "ttl_ns is -1000"},
		"contract permits": {contract(`"permits":1000000001`), "permits is 1000000001"},
		"reentry limit":    {contract(`"reentry_limit":-1`), "reentry_limit is -1"},
		"expiry":           {contract(`"expiry":"someday"`), `expiry is "someday"`},
		"tokens":           {contract(`"tokens":"many"`), `tokens is "many"`},
		"resource check":   {header(`"resources":[{"name":"r","check":"well","store":"s"}]`), `resource "r": check is "well"`},
		"trailing":         {head + `{"index":0,"t_ns":1,"type":"crash"} {}` + "\n", "something follows"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ReadJSONL(strings.NewReader(c.text))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want something with %q", err, c.want)
			}
			if err != nil && !errors.Is(err, ErrFormat) {
				t.Errorf("%v does not wrap ErrFormat", err)
			}
		})
	}
}

func header(field string) string { return `{"schema":"locktest.history/1",` + field + "}\n" }

func contract(field string) string {
	return header(`"locks":[{"name":"L","provider":"p","contract":{` + field + `}}]`)
}

// What was found on a server without an end has a negative TTL.
func TestObservedWithoutEnd(t *testing.T) {
	h, err := ReadJSONL(strings.NewReader(header(`"seed":1`) + `{"index":0,"t_ns":1,"type":"observed","lock":"L","name":"key","ttl_ns":-1}` + "\n"))
	if err != nil || h.Ops[0].TTL != -1 {
		t.Errorf("got %+v, %v", h, err)
	}
}

func TestTruncatedLastLine(t *testing.T) {
	var b bytes.Buffer
	if err := WriteJSONL(&b, sample()); err != nil {
		t.Fatal(err)
	}
	for cut := 2; cut < 40; cut++ {
		got, err := ReadJSONL(bytes.NewReader(b.Bytes()[:b.Len()-cut]))
		if err != nil {
			t.Fatalf("cut %d: %v", cut, err)
		}
		if len(got.Ops) != len(sample().Ops)-1 || got.Truncated == "" {
			t.Errorf("cut %d: %d events, truncated %q", cut, len(got.Ops), got.Truncated)
		}
	}
}

func TestRecorderOrdersAndWritesAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.jsonl")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := NewRecorder(f, Header{Seed: 7}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for c := range 4 {
		wg.Go(func() {
			for p := range 200 {
				r.Record(Op{Client: string(rune('a' + c)), Process: p, Type: Crash})
			}
		})
	}
	wg.Wait()
	last := r.Record(Op{Type: Phase, Name: PhaseEnd})
	h, err := LoadJSONL(path) // before Close: what Record returned for is on disk
	if err != nil {
		t.Fatal(err)
	}
	if n := len(h.Ops); n != 801 || last.Index != 800 || h.Ops[800].Name != PhaseEnd {
		t.Errorf("%d events, last %d, want 801 and 800", n, last.Index)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if r.Record(Op{Type: Crash}); r.Len() != 801 {
		t.Error("an event was let in after Close")
	}
}

type failing struct{ n int }

func (f *failing) Write(b []byte) (int, error) {
	if f.n--; f.n < 0 {
		return 0, errors.New("disk is full")
	}
	return len(b), nil
}

func TestRecorderKeepsItsFirstError(t *testing.T) {
	r, err := NewRecorder(&failing{n: 2}, Header{}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		r.Record(Op{Type: Crash})
	}
	if err := r.Close(); err == nil || !strings.Contains(err.Error(), "disk is full") {
		t.Errorf("got %v", err)
	}
}

func FuzzReadJSONL(f *testing.F) {
	var b bytes.Buffer
	if err := WriteJSONL(&b, sample()); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add([]byte(`{"schema":"locktest.history/1"}` + "\n" + `{"index":0,"t_ns":0,"type":"ok","f":"read","data":{"a":[1,"\u00e9"]}}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		h, err := ReadJSONL(bytes.NewReader(in))
		if err != nil {
			return
		}
		var out bytes.Buffer
		if err := WriteJSONL(&out, h); err != nil {
			t.Fatal(err)
		}
		again, err := ReadJSONL(&out)
		if err != nil {
			t.Fatalf("what was read can't be read again: %v", err)
		}
		if len(again.Ops) != len(h.Ops) {
			t.Errorf("%d events became %d", len(h.Ops), len(again.Ops))
		}
	})
}

func BenchmarkRecorder(b *testing.B) {
	f, err := os.Create(filepath.Join(b.TempDir(), "history.jsonl"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	r, err := NewRecorder(f, Header{}, time.Now())
	if err != nil {
		b.Fatal(err)
	}
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			r.Record(Op{Client: "c1", Process: 1, Type: OK, F: Acquire, Lock: "orders", Grant: 12345, Owner: "c1-12345", Token: 12345, Valid: time.Second})
		}
	})
}

func BenchmarkReadJSONL(b *testing.B) {
	h := sample()
	ops := h.Ops
	h.Ops = nil
	for i := range 100_000 {
		op := ops[0]
		op.Type, op.Index, op.Time = Crash, i, time.Duration(i)
		h.Ops = append(h.Ops, op)
	}
	var buf bytes.Buffer
	if err := WriteJSONL(&buf, h); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(buf.Len()))
	for b.Loop() {
		if _, err := ReadJSONL(bytes.NewReader(buf.Bytes())); err != nil {
			b.Fatal(err)
		}
	}
}

package clients

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/locktest/locktest/locks"
	"github.com/locktest/locktest/locks/memory"
)

func TestRequestRoundTrip(t *testing.T) {
	for _, r := range []Request{
		{ID: 1, Op: OpAcquire, Grant: 4, Lock: "orders", TTL: 2 * time.Second, Wait: 0, Mode: "shared", Permit: 3, Thread: 2},
		{ID: 2, Op: OpWork, Grant: 4, Lock: "orders", Resource: "orders", Base: 41, Value: 42},
		{ID: 3, Op: OpCancel, Target: 1},
		{ID: 4, Op: OpRead, Grant: 4, Lock: "orders", Resource: "orders", Token: 1<<64 - 1},
		{ID: 5, Op: OpWork, Grant: 4, Lock: "orders", Resource: "orders", Token: 7, Base: 41, Value: 42, N: -3},
	} {
		got, err := decodeRequest(encodeRequest(r))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(r, got); d != "" {
			t.Error(d)
		}
	}
	if b := encodeRequest(Request{Op: OpAcquire}); !bytes.Contains(b, []byte(`"wait_ms":0`)) {
		t.Errorf("an acquire that tries once doesn't say so: %s", b)
	}
}

func TestDecodeMessage(t *testing.T) {
	for name, c := range map[string]struct {
		line string
		want Reply
	}{
		"grant":              {`{"id":1,"r":"ok","token":41,"owner":"x","ttl_ms":2000}`, Reply{ID: 1, Result: OK, Token: 41, Owner: "x", TTL: 2 * time.Second}},
		"token as a string":  {`{"id":1,"r":"ok","token":"18446744073709551615"}`, Reply{ID: 1, Result: OK, Token: 1<<64 - 1}},
		"an unknown word":    {`{"id":1,"r":"perhaps"}`, Reply{ID: 1, Result: Unknown}},
		"no word":            {`{"id":1}`, Reply{ID: 1, Result: Unknown}},
		"what was read":      {`{"id":1,"r":"ok","value":41,"n":-3}`, Reply{ID: 1, Result: OK, Value: 41, N: -3}},
		"refused":            {`{"id":1,"r":"rejected","error":"too low"}`, Reply{ID: 1, Result: Rejected, Error: "too low"}},
		"further fields":     {`{"id":1,"r":"busy","colour":"red"}`, Reply{ID: 1, Result: Busy}},
		"a huge ttl":         {`{"id":1,"r":"ok","ttl_ms":9223372036854775807}`, Reply{ID: 1, Result: OK, TTL: 9223372036854 * time.Millisecond}},
		"unknown with cause": {`{"id":1,"r":"unknown","error":"timeout","handle":true}`, Reply{ID: 1, Result: Unknown, Error: "timeout", Handle: true}},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := (&hearer{client: "c1"}).message([]byte(c.line))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, m.reply); d != "" {
				t.Error(d)
			}
		})
	}
	for _, bad := range []string{`hello`, `{}`, `[]`, `{"id":1,"token":-1}`, `{"id":1,"token":1.5}`, `{"r":"ok"}`} {
		if _, err := (&hearer{client: "c1"}).message([]byte(bad)); err == nil {
			t.Errorf("%s is taken for a message", bad)
		}
	}
}

func FuzzMessage(f *testing.F) {
	f.Add([]byte(`{"id":1,"r":"ok","token":41,"owner":"x","ttl_ms":2000,"until_ns":77,"valid_ms":1.5}`))
	f.Add([]byte(`{"event":"lost","grant":3,"lock":"orders"}`))
	f.Add([]byte(`{"event":"stalled","late_ms":1e300}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := (&hearer{client: "c1"}).message(b)
		if err != nil {
			return
		}
		if r, ok := (&hearer{}).plainReply(b); ok { // the short way says what the general one says
			g, err := generalMessage(b, "c1")
			g.reply.Until = r.Until // both are read off a clock that runs
			if d := cmp.Diff(r, g.reply); err != nil || d != "" {
				t.Errorf("%q: %v\n%s", b, err, d)
			}
		}
		switch m.reply.Result {
		case OK, Busy, Lost, Rejected, Unavailable, Unknown:
		default:
			if m.event == nil {
				t.Errorf("%q has the result %q", b, m.reply.Result)
			}
		}
	})
}

// Whatever a harness sends, each request that has an id is answered by a line of JSON.
func FuzzServe(f *testing.F) {
	f.Add([]byte(`{"id":1,"op":"acquire","lock":"orders","grant":1,"ttl_ms":20}` + "\n" + `{"id":2,"op":"release","grant":1}`))
	f.Add([]byte("nonsense\n{}\n" + `{"id":3,"op":"cancel","target":1}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		provider := memory.NewLease()
		var out bytes.Buffer
		in := append(line(hello{Op: OpHello, V: Version, Client: "c1"}), b...)
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond) // ends waits
		defer cancel()
		Serve(ctx, bytes.NewReader(in), &out, func(ctx context.Context, name string, _ map[string]any) (locks.Client, error) {
			return provider.Open(ctx, locks.Target{Client: name})
		})
		for _, l := range bytes.Split(bytes.TrimSpace(out.Bytes()), []byte("\n")) {
			if !json.Valid(l) {
				t.Errorf("answered %q", l)
			}
		}
	})
}

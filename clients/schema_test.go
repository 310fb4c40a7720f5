package clients

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/locktest/locktest/locks"
	"github.com/locktest/locktest/locks/memory"
)

func compiled(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("client.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("client.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func valid(s *jsonschema.Schema, l []byte) error {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(l))
	if err != nil {
		return err
	}
	return s.Validate(v)
}

// What both sides of this program write is what the schema says.
func TestSchemaFitsWhatIsWritten(t *testing.T) {
	s := compiled(t)
	requests := [][]byte{
		line(hello{Op: OpHello, V: Version, Client: "c1", Options: map[string]any{"lock": "memory/lease"}}),
		encodeRequest(Request{ID: 1, Op: OpAcquire, Grant: 1, Lock: "orders", TTL: 50 * time.Millisecond}),
		encodeRequest(Request{ID: 2, Op: OpAcquire, Grant: 2, Lock: "orders", TTL: time.Second, Mode: "exclusive", Permit: 1, Thread: 1}),
		encodeRequest(Request{ID: 3, Op: OpWork, Grant: 1, Lock: "orders", Resource: "orders", Base: 1, Value: 2}),
		encodeRequest(Request{ID: 4, Op: OpExtend, Grant: 1, Lock: "orders", TTL: time.Second}),
		encodeRequest(Request{ID: 5, Op: OpRelease, Grant: 1, Lock: "orders"}),
		encodeRequest(Request{ID: 6, Op: OpRelease, Grant: 9, Lock: "orders"}),
		encodeRequest(Request{ID: 7, Op: OpCancel, Target: 2}),
		encodeRequest(Request{ID: 8, Op: OpRead, Grant: 1, Lock: "orders", Resource: "orders", Token: 1<<64 - 1}),
		encodeRequest(Request{ID: 9, Op: OpWork, Grant: 1, Lock: "orders", Resource: "orders", Token: 3, Base: 1, Value: 2, N: -1}),
	}
	var out bytes.Buffer
	err := Serve(context.Background(), bytes.NewReader(bytes.Join(requests, nil)), &out, func(ctx context.Context, name string, _ map[string]any) (locks.Client, error) {
		return memory.NewLease().Open(ctx, locks.Target{Client: name})
	})
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.Split(bytes.TrimSpace(out.Bytes()), []byte("\n"))
	if len(lines) != len(requests)-1 { // cancel has no reply
		t.Errorf("%d replies to %d requests", len(lines), len(requests))
	}
	events := [][]byte{encodeEvent(Event{Kind: LostEvent, Grant: 1, Lock: "orders"}), encodeEvent(Event{Kind: Stalled, Late: time.Second}), encodeEvent(Event{Kind: Renewed, Grant: 1, Until: time.Now()})}
	lines = append(lines, encodeReply(Reply{ID: 8, Result: OK, Value: 41, N: -3}), encodeReply(Reply{ID: 9, Result: Rejected, Error: "too low"}))
	for _, l := range append(append(requests, lines...), events...) {
		if err := valid(s, l); err != nil {
			t.Errorf("%s: %v", l, err)
		}
	}
}

func TestSchemaRefuses(t *testing.T) {
	s := compiled(t)
	for _, l := range []string{`{}`, `{"id":1}`, `{"id":1,"op":"dance"}`, `{"id":1,"op":"acquire","ttl_ms":-1}`, `{"event":"party"}`, `{"id":1,"r":"ok","token":-4}`, `{"id":1,"op":"acquire","colour":"red"}`} {
		if valid(s, []byte(l)) == nil {
			t.Errorf("%s is valid", l)
		}
	}
}

package workloads_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locktest/locktest/clients"
	"github.com/locktest/locktest/history"
	"github.com/locktest/locktest/workloads"
)

// What a client says of a resource in a store: nothing there is decided in the harness, so that only what it knows is certain.
func TestStoredResource(t *testing.T) {
	granted := answer{reply: clients.Reply{Result: clients.OK, Token: 7}}
	found := answer{reply: clients.Reply{Result: clients.OK, Value: 41, N: 8}}
	begin := []string{"invoke acquire 1", "ok acquire 1", "invoke read 1"}
	for name, c := range map[string]struct {
		answers []answer
		want    []string
	}{
		"read and written":               {[]answer{granted, found, say(clients.OK), say(clients.OK)}, []string{"ok read 1", "invoke write 1", "ok write 1", "invoke release 1", "ok release 1"}},
		"the read is refused":            {[]answer{granted, say(clients.Rejected), say(clients.OK)}, []string{"fail read 1 rejected", "invoke release 1", "ok release 1"}},
		"the read's reply is lost":       {[]answer{granted, say(clients.Unknown), say(clients.OK)}, []string{"info read 1", "invoke release 1", "ok release 1"}},
		"the write is refused":           {[]answer{granted, found, say(clients.Rejected), say(clients.OK)}, []string{"ok read 1", "invoke write 1", "fail write 1 rejected", "invoke release 1"}},
		"the write's reply is lost":      {[]answer{granted, found, say(clients.Unknown), say(clients.OK)}, []string{"ok read 1", "invoke write 1", "info write 1", "invoke release 1"}},
		"the write wasn't sent":          {[]answer{granted, found, say(clients.Unavailable), say(clients.OK)}, []string{"ok read 1", "invoke write 1", "fail write 1", "invoke release 1"}},
		"the client knows of its loss":   {[]answer{granted, found, say(clients.Lost), say(clients.Lost)}, []string{"ok read 1", "invoke write 1", "fail write 1 not-held", "lost  1"}},
		"a client died in its write":     {[]answer{granted, found, {err: clients.ErrDead}}, []string{"ok read 1", "invoke write 1", "info write 1"}},
		"a word that has no meaning yet": {[]answer{granted, found, say(clients.Busy), say(clients.OK)}, []string{"ok read 1", "invoke write 1", "info write 1", "invoke release 1"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newScene(t, lease, history.ChecksToken)
				s.shared.Resources["orders"] = workloads.NewStored("orders", history.ChecksToken, "postgres")
				client := &script{answers: c.answers}
				w := workloads.NewWorker(client, workloads.Counter{}, workloads.Config{Locks: []string{"orders"}, TTL: time.Second}, s.shared, rand.New(rand.NewPCG(1, 1)))
				w.Run(t.Context(), make(chan struct{})) // ends with the script
				got, want := s.lines(), append(begin, c.want...)
				if strings.Join(got[:min(len(want), len(got))], "\n") != strings.Join(want, "\n") {
					t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
				}
			})
		})
	}
}

// What was read, and what is written on top of it, is in the history and in the request, with the grant's token.
func TestStoredResourceCarriesTokens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, lease, history.ChecksToken)
		r := workloads.NewStored("orders", workloads.ChecksInTwoSteps, "etcd")
		s.shared.Resources["orders"] = r
		client := &script{answers: []answer{{reply: clients.Reply{Result: clients.OK, Token: 7}}, {reply: clients.Reply{Result: clients.OK, Value: 41, N: 8}}, say(clients.OK), say(clients.OK)}}
		w := workloads.NewWorker(client, workloads.Counter{}, workloads.Config{Locks: []string{"orders"}, TTL: time.Second}, s.shared, rand.New(rand.NewPCG(1, 1)))
		w.Run(t.Context(), make(chan struct{})) // ends with the script
		ops := s.history().Ops
		read, write := ops[3], ops[4]
		if read.Value != 41 || string(read.Data) != `{"n":8}` || read.Token != 7 {
			t.Errorf("read %+v", read)
		}
		if write.Base != 41 || string(write.Data) != `{"n":9}` || write.Token != 7 || write.Value == 0 {
			t.Errorf("write %+v", write)
		}
		asked := client.requests[2]
		if asked.Op != clients.OpWork || asked.Token != 7 || asked.Base != 41 || asked.N != 9 || asked.Value != write.Value {
			t.Errorf("asked for %+v", asked)
		}
		if got, want := r.Describe(), (history.Resource{Name: "orders", Check: history.ChecksToken, Store: "etcd"}); got != want {
			t.Errorf("described as %+v, want %+v", got, want)
		}
	})
}

// A worker of one thread says so in each request and each event.
func TestThread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, lease, history.ChecksToken)
		client := &script{answers: []answer{say(clients.OK), say(clients.Lost), say(clients.Lost)}}
		w := workloads.NewWorker(client, workloads.Counter{}, workloads.Config{Thread: 2, Locks: []string{"orders"}, TTL: time.Second}, s.shared, rand.New(rand.NewPCG(1, 1)))
		w.Run(t.Context(), make(chan struct{})) // ends with the script
		for _, r := range client.requests {
			if r.Thread != 2 {
				t.Errorf("%s %d is of thread %d", r.Op, r.Grant, r.Thread)
			}
		}
		lost := 0
		for _, op := range s.history().Ops {
			if op.Thread != 2 {
				t.Errorf("%s %s is of thread %d", op.Type, op.F, op.Thread)
			}
			if op.Type == history.Lost {
				lost++
			}
		}
		if lost != 1 {
			t.Errorf("%d losses are told, want 1", lost)
		}
	})
}

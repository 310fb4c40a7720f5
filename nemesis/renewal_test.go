package nemesis

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// renewers are clients that only remember whose renewal stands still.
type renewers struct {
	Clients
	still map[string]bool
}

func (r *renewers) Names() []string { return []string{"c1", "c2"} }
func (r *renewers) Separate() bool  { return true }
func (r *renewers) Renews() bool    { return r.still != nil }
func (r *renewers) Pid(string) int  { return 1 }
func (r *renewers) PauseRenewal(_ context.Context, client string, on bool) error {
	r.still[client] = on
	return nil
}

func TestRenewalPause(t *testing.T) {
	clients := &renewers{still: map[string]bool{}}
	env := Env{Clients: clients, Rand: rand.New(rand.NewPCG(1, 1))}
	f := NewRenewalPause(Target{List: []string{"c2"}})
	if err := f.Check(env); err != nil {
		t.Fatal(err)
	}
	in, err := f.Inject(t.Context(), env)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(clients.still); got != "map[c2:true]" {
		t.Errorf("still: %s", got)
	}
	dead, cancel := context.WithCancel(t.Context())
	cancel()
	for range 2 {
		if err := in.Heal(dead); err != nil {
			t.Error(err)
		}
	}
	if got := fmt.Sprint(clients.still); got != "map[c2:false]" {
		t.Errorf("healed: %s", got)
	}
}

func TestRenewalPauseNeedsRenewal(t *testing.T) {
	err := NewRenewalPause(Target{List: []string{"c2"}}).Check(Env{Clients: &renewers{}})
	if err == nil || !strings.Contains(err.Error(), "renews nothing") {
		t.Error(err)
	}
}

package external_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"

	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/cluster/external"
	"github.com/locktest/locktest/internal/access"
)

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func TestNodesAreTheEndpoints(t *testing.T) {
	a, b := listen(t).Addr().String(), listen(t).Addr().String()
	c, err := external.New(external.Options{Service: cluster.Service{Name: "lines", Protocol: "resp"}, Endpoints: []string{a, b}})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	nodes := c.Nodes()
	if len(nodes) != 2 || nodes[0].Name() != "n1" || nodes[1].Name() != "n2" || nodes[0].Addr() != a || nodes[1].Addr() != b {
		t.Errorf("nodes %+v", nodes)
	}
	if d := c.Describe(); !strings.Contains(d, a+", "+b) || strings.Contains(d, "TLS") {
		t.Errorf("it is described as %q", d)
	}
	for _, n := range nodes {
		if n.(cluster.Spoken).Protocol() != "resp" {
			t.Errorf("%s doesn't speak its service's protocol", n.Name())
		}
		for what, has := range map[string]bool{"Killer": is[cluster.Killer](n), "Pauser": is[cluster.Pauser](n), "Pidded": is[cluster.Pidded](n), "Staller": is[cluster.Staller](n)} {
			if has {
				t.Errorf("%s is a %s, and somebody else's", n.Name(), what)
			}
		}
	}
	if err := errors.Join(c.Close(), c.Close()); err != nil {
		t.Fatal(err)
	}
	if conn, err := net.Dial("tcp", a); err != nil {
		t.Errorf("the server is gone after Close: %v", err)
	} else {
		conn.Close()
	}
}

func is[P any](n cluster.Node) bool { _, ok := n.(P); return ok }

func TestServersThatCanNotBeReached(t *testing.T) {
	l := listen(t)
	dead := l.Addr().String()
	l.Close()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		ctx       context.Context
		endpoints []string
	}{
		"none":         {t.Context(), nil},
		"one is dead":  {t.Context(), []string{listen(t).Addr().String(), dead}},
		"a dead start": {ended, []string{listen(t).Addr().String()}},
	} {
		t.Run(name, func(t *testing.T) {
			e, err := external.New(external.Options{Service: cluster.Service{Name: "lines"}, Endpoints: c.endpoints})
			if err == nil {
				err = e.Start(c.ctx)
			}
			var told *cluster.Error
			if !errors.As(err, &told) || told.Code != cluster.CodeUnreachable || len(told.Fix) == 0 {
				t.Errorf("error %v", err)
			}
		})
	}
}

// Behind TLS no link can read what is said; and a server that turns to TLS late isn't asked for it at once.
func TestTLS(t *testing.T) {
	a, err := access.Spec{TLS: true}.Open()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ late, reached bool }{"from the start": {false, false}, "late": {true, true}} {
		l := listen(t)
		go func() {
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				conn.Write([]byte("no TLS is spoken here\n"))
				conn.Close()
			}
		}()
		e, err := external.New(external.Options{Service: cluster.Service{Name: "lines", Protocol: "resp", LateTLS: c.late}, Endpoints: []string{l.Addr().String()}, Access: a})
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Start(t.Context()); (err == nil) != c.reached {
			t.Errorf("%s: Start() = %v", name, err)
		}
		if p := e.Nodes()[0].(cluster.Spoken).Protocol(); p != "" || !strings.HasSuffix(e.Describe(), "by TLS") {
			t.Errorf("%s: it speaks %q and is described as %s", name, p, e.Describe())
		}
	}
}

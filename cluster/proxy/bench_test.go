package proxy_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/cluster/proxy"
)

// BenchmarkRoundTrip compares a request and its reply over a plain connection with the same through a proxy.
func BenchmarkRoundTrip(b *testing.B) {
	s := newServer(b, "n1")
	n, err := proxy.New(proxy.Options{Clients: []string{"c1"}, Nodes: []cluster.Node{s}, Rand: rand.New(rand.NewPCG(1, 2))})
	if err != nil {
		b.Fatal(err)
	}
	defer n.Close()
	for _, way := range []struct{ name, addr string }{{"direct", s.Addr()}, {"proxied", n.Addr("c1", "n1")}} {
		b.Run(way.name, func(b *testing.B) {
			c, err := connect(way.addr)
			if err != nil {
				b.Fatal(err)
			}
			defer c.Close()
			for b.Loop() {
				if _, err := fmt.Fprintln(c, "x"); err != nil {
					b.Fatal(err)
				}
				if got, err := c.in.ReadString('\n'); got != "re x\n" {
					b.Fatalf("received %q (%v)", got, err)
				}
			}
		})
	}
}

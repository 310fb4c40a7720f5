package proxy_test

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"net"
	"testing"

	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/cluster/proxy"
	"github.com/locktest/locktest/internal/wire"
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

// obliging answers each line with OK in Redis' protocol.
type obliging struct{ *server }

func (obliging) Protocol() string { return wire.RESP }

func newObliging(b *testing.B) obliging {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				for in := bufio.NewScanner(conn); in.Scan(); {
					conn.Write([]byte("+OK\r\n"))
				}
			}()
		}
	}()
	return obliging{&server{name: "n1", listener: l}}
}

// BenchmarkMessages compares bytes as they come with the same told apart, message by message, where no rule is met.
func BenchmarkMessages(b *testing.B) {
	node := newObliging(b)
	for name, apart := range map[string]bool{"as they come": false, "told apart": true} {
		n, err := proxy.New(proxy.Options{Clients: []string{"c1"}, Nodes: []cluster.Node{node}, Messages: apart, Rand: rand.New(rand.NewPCG(1, 2))})
		if err != nil {
			b.Fatal(err)
		}
		defer n.Close()
		b.Run(name, func(b *testing.B) {
			c, err := connect(n.Addr("c1", "n1"))
			if err != nil {
				b.Fatal(err)
			}
			defer c.Close()
			for b.Loop() {
				if _, err := fmt.Fprint(c, "SET k v\r\n"); err != nil {
					b.Fatal(err)
				}
				if got, err := c.in.ReadString('\n'); got != "+OK\r\n" {
					b.Fatalf("received %q (%v)", got, err)
				}
			}
		})
	}
}

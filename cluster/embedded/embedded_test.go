package embedded_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	goredis "github.com/redis/go-redis/v9"

	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/cluster/clustertest"
	"github.com/locktest/locktest/cluster/embedded"
	"github.com/locktest/locktest/locks/redis"
)

func newCluster(t *testing.T) cluster.Cluster {
	t.Helper()
	c, err := embedded.New(embedded.Options{Service: redis.Service(), Nodes: 3})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestConformance(t *testing.T) {
	clustertest.Run(t, clustertest.Kit{New: newCluster, Put: put, Get: get, KeepsData: true})
}

// client makes one connection and tries once.
func client(addr string) *goredis.Client {
	return goredis.NewClient(&goredis.Options{Addr: addr, MaxRetries: -1, ReadTimeout: -1, ContextTimeoutEnabled: true})
}

func put(ctx context.Context, addr, key, value string) error {
	c := client(addr)
	defer c.Close()
	return c.Set(ctx, key, value, 0).Err()
}

func get(ctx context.Context, addr, key string) (string, bool, error) {
	c := client(addr)
	defer c.Close()
	value, err := c.Get(ctx, key).Result()
	if errors.Is(err, goredis.Nil) {
		return "", false, nil
	}
	return value, err == nil, err
}

func TestServiceThatCannotBeEmbedded(t *testing.T) {
	_, err := embedded.New(embedded.Options{Service: cluster.Service{Name: "other"}})
	var e *cluster.Error
	if !errors.As(err, &e) || e.Code != cluster.CodeUnhostable || !strings.Contains(e.Message, "other") {
		t.Errorf("New() = %v, want %s that names the service", err, cluster.CodeUnhostable)
	}
}

func TestDescribe(t *testing.T) {
	c := newCluster(t)
	if err := c.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if got := c.Describe(); !strings.HasPrefix(got, "miniredis") || !strings.HasSuffix(got, ", 3 in this process") {
		t.Errorf("Describe() = %q", got)
	}
}

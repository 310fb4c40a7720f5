package catalog

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"log/slog"
	"math/rand/v2"
	"os"
	"strconv"

	"github.com/locktest/locktest/internal/monotime"
	"github.com/locktest/locktest/locks"
)

// OpenClient makes the lock's client that a hello asks for: options are the lock's name, its options and the servers.
func OpenClient(ctx context.Context, name string, options map[string]any) (locks.Client, error) {
	lock, ok := Find(text(options["lock"]))
	if !ok {
		return nil, fmt.Errorf("there is no lock %q", text(options["lock"]))
	}
	if lock.Memory() {
		return nil, fmt.Errorf("%s lives in one process, it can't be used from several", lock.Name)
	}
	chosen := map[string]string{}
	if m, ok := options["options"].(map[string]any); ok {
		for k, v := range m {
			chosen[k] = text(v)
		}
	}
	provider, err := lock.New(chosen)
	if err != nil {
		return nil, err
	}
	var addrs []string
	if list, ok := options["servers"].([]any); ok {
		for _, a := range list {
			addrs = append(addrs, text(a))
		}
	}
	return provider.Open(ctx, locks.Target{Client: name, Addrs: addrs, Rand: processRand(name), Log: slog.New(slog.NewTextHandler(os.Stderr, nil))})
}

func text(v any) string {
	s, _ := v.(string)
	return s
}

// processRand differs between the lives of one client, which must not draw the same owner values again.
func processRand(name string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(name))
	h.Write(binary.BigEndian.AppendUint64(nil, uint64(monotime.Now())))
	h.Write(binary.BigEndian.AppendUint64(nil, uint64(os.Getpid())))
	seed, _ := strconv.ParseUint(os.Getenv("LOCKTEST_SEED"), 10, 64)
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}

package catalog

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"log/slog"
	"math/rand/v2"
	"os"
	"strconv"

	"github.com/locktest/locktest/clients"
	"github.com/locktest/locktest/internal/access"
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
	addrs := texts(options["servers"])
	a, err := accessOf(options["access"])
	if err != nil {
		return nil, err
	}
	store, err := openStore(options["store"])
	if err != nil {
		return nil, err
	}
	redactor := a.Redactor()
	c, err := provider.Open(ctx, locks.Target{Client: name, Addrs: addrs, Servers: texts(options["hosts"]), Access: a, Rand: processRand(name),
		Log: slog.New(slog.NewTextHandler(redactor.Writer(os.Stderr), nil))})
	if err != nil || store == nil {
		return locks.Guard(c, redactor), redactor.Error(err)
	}
	return clients.WithStore(locks.Guard(c, redactor), store), nil
}

// accessOf reads what a hello says of servers that aren't ours: where passwords are, never the passwords.
func accessOf(v any) (access.Access, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return access.Access{}, err
	}
	var s access.Spec
	if err := json.Unmarshal(b, &s); err != nil {
		return access.Access{}, fmt.Errorf("access: %w", err)
	}
	return s.Open()
}

func texts(v any) (out []string) {
	list, _ := v.([]any)
	for _, a := range list {
		out = append(out, text(a))
	}
	return out
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
	return locks.SharedRand(rand.NewPCG(seed, h.Sum64()))
}

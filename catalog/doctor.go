package catalog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"

	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/cluster/docker"
	"github.com/locktest/locktest/cluster/process"
	"github.com/locktest/locktest/internal/blackhole"
	"github.com/locktest/locktest/internal/disk"
	"github.com/locktest/locktest/internal/vclock"
	"github.com/locktest/locktest/locks/postgres"
	"github.com/locktest/locktest/locks/redis"
)

// Finding is one thing that this machine can do, or lacks.
type Finding struct {
	Name  string   `json:"name"` // redis/process, fault/clock
	OK    bool     `json:"ok"`
	About string   `json:"about"`         // what was found, or what is missing
	Fix   []string `json:"fix,omitempty"` // what mends it: one of them is enough
}

// Doctor looks at all that servers, kinds of clusters and faults need of this machine. Nothing is started but programs that tell
// their version.
func Doctor(ctx context.Context) []Finding {
	var out []Finding
	seen := map[string]bool{}
	for _, l := range Locks() {
		if l.Memory() || seen[l.Service().Name] {
			continue
		}
		s := l.Service()
		seen[s.Name] = true
		if s.Child != "" || s.Embed != nil {
			version, err := s.Version(ctx, "")
			out = append(out, finding(s.Name+"/embedded", version+", a part of locktest", err))
		}
		if s.Command != nil {
			version, err := processVersion(ctx, s)
			out = append(out, finding(s.Name+"/process", version, err))
		}
		if s.Container != nil {
			engine, err := docker.Engine(ctx)
			out = append(out, finding(s.Name+"/docker", s.Container.Image+" by "+engine, err))
		}
	}
	slices.SortFunc(out, func(a, b Finding) int { return cmp.Compare(a.Name, b.Name) })
	return append(out, faultNeeds()...)
}

func processVersion(ctx context.Context, s cluster.Service) (string, error) {
	path, err := process.Find(s)
	if err != nil {
		return "", err
	}
	version, err := s.Version(ctx, path)
	return version + " at " + path, err
}

// faultNeeds are what faults and shapes need beyond their servers.
func faultNeeds() []Finding {
	_, pooler := postgres.Service().Program(cluster.NodeConfig{Name: "n1", Options: map[string]string{"pooler": "session"}, Nodes: 2})
	_, names := process.New(process.Options{Service: redis.SentinelService()})
	var e *cluster.Error
	if errors.As(names, &e) && e.Code == cluster.CodeNoBinary { // that is told above
		names = fmt.Errorf("not tried, since %w", names)
	}
	return []Finding{
		finding("fault/black-hole", "packets can be dropped", mend(blackhole.Supported(), "run as root, with iptables: apt install iptables; sudo locktest run ...")),
		finding("fault/clock", "clocks of single processes can be set", mend(vclock.Supported(), "run on linux/amd64")),
		finding("fault/stall", "disks of single nodes can be frozen", mend(disk.Supported(), "run as root, with loop devices: sudo locktest run ...")),
		finding("names", "nodes can have host names of their own: Redis with Sentinels, etcd with several members", names),
		finding("pooler", "PgBouncer was found", pooler),
	}
}

// mend adds what a person can do about err; where that is another program to install, err says it already.
func mend(err error, fix string) error {
	if err == nil {
		return nil
	}
	return &cluster.Error{Message: err.Error(), Fix: []string{fix}}
}

func finding(name, about string, err error) Finding {
	if err == nil {
		return Finding{Name: name, OK: true, About: about}
	}
	f := Finding{Name: name, About: err.Error()}
	var e *cluster.Error
	if errors.As(err, &e) {
		f.Fix = e.Fix
	}
	if len(f.Fix) == 0 {
		f.Fix = []string{"on " + runtime.GOOS + "/" + runtime.GOARCH + " nothing is known that mends it"}
	}
	return f
}

package etcd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/locktest/locktest/cluster"
)

// What follows asks members over etcd's JSON gateway, at the address for clients. Numbers of 64 bits are text there.

type status struct {
	Header struct {
		MemberID string `json:"member_id"`
	} `json:"header"`
	Leader string `json:"leader"`
}

type member struct {
	ID       string   `json:"ID"`
	Name     string   `json:"name"`
	PeerURLs []string `json:"peerURLs"`
}

func memberStatus(ctx context.Context, addr string) (status, error) {
	var s status
	err := ask(ctx, addr, "maintenance/status", struct{}{}, &s)
	if s.Leader == "" {
		s.Leader = "0" // the gateway leaves zeros out
	}
	return s, err
}

// healthy asks for a read that needs a quorum.
func healthy(ctx context.Context, addr string) error {
	text, err := send(ctx, http.MethodGet, "http://"+addr+"/health", nil)
	if err != nil {
		return err
	}
	var h struct{ Health, Reason string }
	if err := json.Unmarshal(text, &h); err != nil || h.Health != "true" {
		return fmt.Errorf("it isn't healthy: %s", text)
	}
	return nil
}

// statusLimit is how long one member may take to say who leads; one that is stopped never answers.
const statusLimit = 500 * time.Millisecond

// statuses asks all members at once and leaves out those that don't answer.
func statuses(ctx context.Context, addrs map[string]string) map[string]status {
	ctx, cancel := context.WithTimeout(ctx, statusLimit)
	defer cancel()
	var mu sync.Mutex
	var wg sync.WaitGroup
	out := map[string]status{}
	for name, addr := range addrs {
		wg.Go(func() {
			s, err := memberStatus(ctx, addr)
			if err != nil {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			out[name] = s
		})
	}
	wg.Wait()
	return out
}

// leaders are those that believe it of themselves.
func leaders(ctx context.Context, addrs map[string]string) ([]string, error) {
	return where(ctx, addrs, func(s status) bool { return s.Leader == s.Header.MemberID })
}

// followers know of another one that leads.
func followers(ctx context.Context, addrs map[string]string) ([]string, error) {
	return where(ctx, addrs, func(s status) bool { return s.Leader != s.Header.MemberID })
}

// where returns the members that know of a leader and satisfy is.
func where(ctx context.Context, addrs map[string]string, is func(status) bool) ([]string, error) {
	all := statuses(ctx, addrs)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var out []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if s := all[name]; s.Leader != "0" && is(s) {
			out = append(out, name)
		}
	}
	return out, nil
}

// promote asks the leader to hand over.
func promote(ctx context.Context, addrs map[string]string, name string) error {
	all := statuses(ctx, addrs)
	target, ok := all[name]
	if !ok {
		return fmt.Errorf("%s doesn't answer", name)
	}
	if target.Leader == target.Header.MemberID {
		return nil
	}
	for other, s := range all {
		if s.Header.MemberID == target.Leader {
			var out struct{}
			return ask(ctx, addrs[other], "maintenance/transfer-leadership", map[string]string{"targetID": target.Header.MemberID}, &out)
		}
	}
	return errors.New("the leader doesn't answer")
}

// rejoin replaces a member by a new one with the same URL: etcd refuses one that has forgotten what it promised. It tries
// until ctx ends, since the others may be without a leader.
func rejoin(ctx context.Context, c cluster.NodeConfig, others map[string]string) error {
	if c.Nodes < 2 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, cluster.ReadyLimit)
	defer cancel()
	for {
		err := errors.New("no other member runs")
		for _, name := range slices.Sorted(maps.Keys(others)) {
			if err = replace(ctx, others[name], c.Name, peerURL(c, c.Name)); err == nil {
				return os.WriteFile(filepath.Join(c.Dir, rejoined), nil, 0o644)
			}
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("replace member %s: %w", c.Name, err)
		}
	}
}

func replace(ctx context.Context, addr, name, url string) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	var list struct{ Members []member }
	if err := ask(ctx, addr, "cluster/member/list", map[string]bool{"linearizable": true}, &list); err != nil {
		return err
	}
	for _, m := range list.Members {
		if !slices.Contains(m.PeerURLs, url) {
			continue
		}
		if m.Name == "" {
			return nil // added, and not started yet
		}
		var out struct{}
		if err := ask(ctx, addr, "cluster/member/remove", map[string]string{"ID": m.ID}, &out); err != nil {
			return err
		}
	}
	var out struct{}
	return ask(ctx, addr, "cluster/member/add", map[string][]string{"peerURLs": {url}}, &out)
}

func ask(ctx context.Context, addr, method string, request, reply any) error {
	body, err := json.Marshal(request)
	if err != nil {
		return err
	}
	text, err := send(ctx, http.MethodPost, "http://"+addr+"/v3/"+method, body)
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	return json.Unmarshal(text, reply)
}

// send makes one request on a connection of its own: a member that was killed leaves none behind that hangs.
func send(ctx context.Context, method, url string, body []byte) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Close = true
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	reply, err := client.Do(r)
	if err != nil {
		return nil, err
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(io.LimitReader(reply.Body, 1<<20))
	if err != nil {
		return nil, err
	}
	if reply.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("it answered %s: %s", reply.Status, strings.TrimSpace(string(text)))
	}
	return text, nil
}

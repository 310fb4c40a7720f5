package blackhole

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Hole is a set of flows that vanish. Its methods may be called from several goroutines.
type Hole struct {
	chain string

	mu     sync.Mutex
	flows  []Flow
	closed bool
}

// Supported says what this machine lacks; nil if it can do it.
func Supported() error {
	if os.Getuid() != 0 {
		return errors.New("only root can have packets dropped")
	}
	for _, program := range []string{"iptables-save", "iptables-restore"} {
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Errorf("%s was not found (apt install iptables)", program)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	_, err := rules(ctx)
	return err
}

// limit is how long iptables may take to look.
const limit = 10 * time.Second

// Open makes an empty hole, and removes what dead processes have left. On an error nothing is left of it.
func Open(ctx context.Context) (*Hole, error) {
	if _, err := Clean(ctx); err != nil {
		return nil, err
	}
	chain, err := newChain(ctx)
	if err != nil {
		return nil, fmt.Errorf("black hole: %w", err)
	}
	h := &Hole{chain: chain}
	if err := restore(ctx, ":"+chain+" - [0:0]", "-I INPUT 1 -i lo -j "+chain); err != nil {
		return nil, fmt.Errorf("black hole: %w", err)
	}
	return h, nil
}

// Drop adds flows to those that vanish, all at once. Those that vanish already are left out.
func (h *Hole) Drop(ctx context.Context, flows ...Flow) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return errors.New("black hole: it is closed")
	}
	var lines []string
	var added []Flow
	for _, f := range flows {
		if slices.Contains(h.flows, f) || slices.Contains(added, f) {
			continue
		}
		match, err := f.match()
		if err != nil {
			return fmt.Errorf("black hole: %w", err)
		}
		lines, added = append(lines, "-A "+h.chain+" "+match+" -j DROP"), append(added, f)
	}
	if len(lines) == 0 {
		return nil
	}
	if err := restore(ctx, lines...); err != nil {
		return fmt.Errorf("black hole: %w", err)
	}
	h.flows = append(h.flows, added...)
	return nil
}

// Close lets all packets through again. It may be called twice.
func (h *Hole) Close(ctx context.Context) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil
	}
	if err := remove(ctx, h.chain); err != nil {
		return fmt.Errorf("close black hole: %w", err)
	}
	h.closed = true
	return nil
}

// Clean removes what processes that are dead have left, and returns the names of those chains.
func Clean(ctx context.Context) ([]string, error) {
	text, err := rules(ctx)
	if err != nil {
		return nil, fmt.Errorf("black holes: %w", err)
	}
	var removed []string
	for _, chain := range chains(text) {
		if ours(chain) {
			continue
		}
		if err := remove(ctx, chain); err != nil {
			return removed, fmt.Errorf("remove the black hole %s: %w", chain, err)
		}
		removed = append(removed, chain)
	}
	return removed, nil
}

// prefix begins the name of each chain, which may have 28 letters.
const prefix = "lt-hole-"

var chainName = regexp.MustCompile(`(?m)^:(` + prefix + `\d+-[0-9a-z]+-[0-9a-z]+) `)

// chains are the names of all holes in what iptables-save told.
func chains(text string) []string {
	var out []string
	for _, m := range chainName.FindAllStringSubmatch(text, -1) {
		out = append(out, m[1])
	}
	return out
}

// newChain returns a name that no chain has.
func newChain(ctx context.Context) (string, error) {
	began, err := began(os.Getpid())
	if err != nil {
		return "", err
	}
	text, err := rules(ctx)
	if err != nil {
		return "", err
	}
	taken := chains(text)
	const four = 36 * 36 * 36 * 36                  // as many numbers have up to four letters
	for n := time.Now().UnixMicro() % four; ; n++ { // holes may be opened side by side
		name := fmt.Sprintf("%s%d-%s-%s", prefix, os.Getpid(), began, strconv.FormatInt(n, 36))
		if !slices.Contains(taken, name) {
			return name, nil
		}
	}
}

// ours says whether the process that made a chain still lives.
func ours(chain string) bool {
	parts := strings.Split(strings.TrimPrefix(chain, prefix), "-")
	pid, err := strconv.Atoi(parts[0])
	if err != nil {
		return false
	}
	now, err := began(pid)
	return err == nil && now == parts[1]
}

// began is when a process began, in ticks since the machine did: field 22 of its stat, of which the second may hold anything.
func began(pid int) (string, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", err
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 20 {
		return "", fmt.Errorf("/proc/%d/stat has %d fields", pid, len(fields))
	}
	if state := fields[0]; state == "Z" || state == "X" {
		return "", fmt.Errorf("process %d is dead", pid)
	}
	ticks, err := strconv.ParseInt(fields[19], 10, 64)
	if err != nil {
		return "", err
	}
	return strconv.FormatInt(ticks, 36), nil
}

func rules(ctx context.Context) (string, error) {
	return run(ctx, nil, "iptables-save", "-t", "filter")
}

// remove takes a chain away with the rule that leads to it.
func remove(ctx context.Context, chain string) error {
	return restore(ctx, "-D INPUT -i lo -j "+chain, "-F "+chain, "-X "+chain)
}

// restore carries out changes in one step: all of them, or none. It waits for others who change rules.
func restore(ctx context.Context, lines ...string) error {
	text := "*filter\n" + strings.Join(lines, "\n") + "\nCOMMIT\n"
	_, err := run(ctx, []byte(text), "iptables-restore", "--noflush", "-w", "10")
	return err
}

func run(ctx context.Context, in []byte, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stdin = bytes.NewReader(in)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w: %s", name, err, strings.TrimSpace(said.String()))
	}
	return string(out), nil
}

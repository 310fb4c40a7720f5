package nemesis

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/internal/proc"
)

// ExecSpec is commands of the user's own, each a program and its arguments.
type ExecSpec struct {
	Of     Target        // told to the commands; may be empty
	Inject []string      // brings the fault about, and ends by itself
	Heal   []string      // ends it; empty: it ends by itself
	Limit  time.Duration // how long each may take; 0: 30 s
}

// Shell is what a run has for commands of the user's.
type Shell struct {
	Spawner *proc.Spawner
	Run     string                   // the run's id
	Log     string                   // the file to which their output is appended
	Redact  func(text string) string // takes secrets out of that; nil: there are none
}

// Exec is a fault that commands of the user's own bring about and end: those of Chaos Mesh, a cloud's fault service, tc. The harness
// doesn't know what they do.
type Exec struct{ spec ExecSpec }

// NewExec returns a fault as spec says.
func NewExec(spec ExecSpec) *Exec {
	spec.Limit = cmp.Or(spec.Limit, execLimit)
	return &Exec{spec}
}

const execLimit = 30 * time.Second

// Kind is "exec".
func (e *Exec) Kind() string { return "exec" }

// Text says it in words.
func (e *Exec) Text() string {
	text := "run " + strings.Join(e.spec.Inject, " ")
	if !e.aimless() {
		text += " for " + e.spec.Of.Text()
	}
	return text
}

// Target is whom it is about.
func (e *Exec) Target() Target { return e.spec.Of }

func (e *Exec) aimless() bool { return e.spec.Of.Of == "" && len(e.spec.Of.List) == 0 }

// Check wants programs that are there.
func (e *Exec) Check(env Env) error {
	if len(e.spec.Inject) == 0 {
		return errors.New("exec: no command is given")
	}
	for _, argv := range [][]string{e.spec.Inject, e.spec.Heal} {
		if len(argv) == 0 {
			continue
		}
		if _, err := exec.LookPath(argv[0]); err != nil {
			return fmt.Errorf("exec: %w", err)
		}
	}
	if e.aimless() {
		return nil
	}
	if err := e.spec.Of.check(env); err != nil {
		return fmt.Errorf("exec: %w", err)
	}
	return nil
}

// Inject runs the first command. Where it fails, the second is run at once: half of what it does may have been done.
func (e *Exec) Inject(ctx context.Context, env Env) (Injection, error) {
	if env.Shell == nil {
		return Injection{}, errors.New("exec: commands can't be run here")
	}
	var names []string
	if !e.aimless() {
		var err error
		if names, err = e.spec.Of.pick(ctx, env); err != nil {
			return Injection{}, fmt.Errorf("exec: %w", err)
		}
	}
	h := &healing{do: func() error { return nil }}
	if len(e.spec.Heal) > 0 {
		h.do = func() error { return e.run(env, names, "heal", e.spec.Heal) }
	}
	text := "run " + strings.Join(e.spec.Inject, " ")
	if len(names) > 0 {
		text += " for " + and(names)
	}
	env.begin(names, text)
	if err := e.run(env, names, "inject", e.spec.Inject); err != nil {
		return Injection{}, errors.Join(err, h.heal(ctx))
	}
	return Injection{Targets: names, Text: text, Heal: h.heal}, nil
}

// healing is done once it went well. It has a time of its own, whatever became of the context.
type healing struct {
	mu   sync.Mutex
	done bool
	do   func() error
}

func (h *healing) heal(context.Context) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.done {
		return nil
	}
	if err := h.do(); err != nil {
		return err
	}
	h.done = true
	return nil
}

// run returns once the command has ended, and all that it started has where its time was over.
func (e *Exec) run(env Env, names []string, what string, argv []string) (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), e.spec.Limit)
	defer cancel()
	out, err := env.Shell.output()
	if err != nil {
		return fmt.Errorf("exec: %w", err)
	}
	defer func() {
		if e := env.Shell.keep(out, what, argv, err); e != nil {
			err = errors.Join(err, fmt.Errorf("exec: keep its output: %w", e))
		}
	}()
	p, err := env.Shell.Spawner.Start(proc.Command{Path: argv[0], Args: argv[1:], Env: env.describe(names, what), Log: out})
	if err != nil {
		return fmt.Errorf("exec: %w", err)
	}
	if err := p.Wait(ctx); err != nil {
		if ctx.Err() == nil {
			return fmt.Errorf("exec: %s %s: %w", what, argv[0], err)
		}
		late := fmt.Errorf("exec: %s %s took longer than %v, and was killed", what, argv[0], e.spec.Limit)
		return errors.Join(late, p.Kill(context.WithoutCancel(ctx)))
	}
	if err := p.ExitErr(); err != nil {
		return fmt.Errorf("exec: %s %s: %w", what, argv[0], err)
	}
	return nil
}

// describe is what a command finds in its environment, lists with spaces between.
func (env Env) describe(names []string, what string) []string {
	var addrs, pids []string
	for _, name := range names {
		n := env.node(name)
		if n != nil {
			addrs = append(addrs, n.Addr())
		}
		pid := 0
		if p, ok := n.(cluster.Pidded); ok {
			pid = p.Pid()
		} else if c, ok := env.Clients.(interface{ Pid(client string) int }); ok && n == nil {
			pid = c.Pid(name)
		}
		if pid != 0 {
			pids = append(pids, strconv.Itoa(pid))
		}
	}
	return []string{"LOCKTEST_RUN=" + env.Shell.Run, "LOCKTEST_FAULT=" + what, "LOCKTEST_TARGETS=" + strings.Join(names, " "),
		"LOCKTEST_ADDRS=" + strings.Join(addrs, " "), "LOCKTEST_PIDS=" + strings.Join(pids, " ")}
}

// output makes a file of the command's own: what it prints is looked through before it is kept.
func (s *Shell) output() (string, error) {
	f, err := os.CreateTemp("", proc.TempName())
	if err != nil {
		return "", err
	}
	return f.Name(), f.Close()
}

// keep appends what a command printed to the log.
func (s *Shell) keep(out, what string, argv []string, how error) error {
	defer os.Remove(out)
	b, err := os.ReadFile(out)
	if err != nil {
		return err
	}
	ended := "ended well"
	if how != nil {
		ended = how.Error()
	}
	text := fmt.Sprintf("--- %s: %s\n%s--- %s\n", what, strings.Join(argv, " "), b, ended)
	if s.Redact != nil {
		text = s.Redact(text)
	}
	if err := os.MkdirAll(filepath.Dir(s.Log), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(s.Log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text) // one write: commands of other faults may end at the same time
	return errors.Join(err, f.Close())
}

// Package proc starts operating system processes that never outlive the harness, and signals their whole trees. It knows
// no server, no client and no run.
//
// Linux has all of it. On macOS there is no death signal, and trees are read from ps: the supervisor alone ends what a killed
// harness leaves behind. On Windows every start is refused.
package proc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
)

// ErrUnsupported says that this platform can't do what was asked for.
var ErrUnsupported = errors.New("not supported on this platform")

// Command is what to start.
type Command struct {
	Path string
	Args []string // without the program's own name
	Env  []string // added to this process's environment
	Dir  string
	// Log is a file to which stderr is appended, and stdout too unless it is a pipe. Empty: they are thrown away.
	Log string
	// Stdin and Stdout ask for pipes, which the Process then holds. Without, stdin is empty.
	Stdin, Stdout bool
	// User is who it runs as; nil: as this process. Only root can choose.
	User *User
}

// User is a user and a group by their numbers.
type User struct{ UID, GID uint32 }

// Nobody is the user without rights that Linux has everywhere.
func Nobody() *User { return &User{65534, 65534} }

// Process is one that was started, and the root of its tree: its children, theirs, and what else is in its process group.
// Its methods may be called from several goroutines.
type Process struct {
	cmd    *exec.Cmd
	log    string
	stdin  *os.File
	stdout *os.File
	start  string // by which a reused pid is told from this one
	done   chan struct{}

	mu  sync.Mutex
	err error
}

// Pid is the root's; it stays the same after its end.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Stdin is the pipe that Command.Stdin asked for; nil without.
func (p *Process) Stdin() io.WriteCloser {
	if p.stdin == nil {
		return nil
	}
	return p.stdin
}

// Stdout is the pipe that Command.Stdout asked for; nil without. What the process wrote before its end can still be read.
func (p *Process) Stdout() io.ReadCloser {
	if p.stdout == nil {
		return nil
	}
	return p.stdout
}

// Done is closed once the root has ended and was reaped.
func (p *Process) Done() <-chan struct{} { return p.done }

// Wait returns ExitErr once the process has ended, or ctx's error.
func (p *Process) Wait(ctx context.Context) error {
	select {
	case <-p.done:
		return p.ExitErr()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// ExitErr is nil while the process runs and after a status of 0; else it says how the process ended.
func (p *Process) ExitErr() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// Signal sends sig to the whole tree. A process that has ended is no error.
func (p *Process) Signal(sig syscall.Signal) error {
	if p.ended() {
		return nil
	}
	return signalTree(p.root(), sig)
}

// Pause stops the whole tree and returns once every thread of it stands still.
func (p *Process) Pause(ctx context.Context) error {
	if p.ended() {
		return fmt.Errorf("pause process %d: it has ended", p.Pid())
	}
	if err := stopTree(ctx, p.root()); err != nil {
		return fmt.Errorf("pause process %d: %w", p.Pid(), err)
	}
	return nil
}

// Resume ends a Pause and returns once every thread is free to run. A process that has ended is no error.
func (p *Process) Resume(ctx context.Context) error {
	if p.ended() {
		return nil
	}
	if err := continueTree(ctx, p.root()); err != nil {
		return fmt.Errorf("resume process %d: %w", p.Pid(), err)
	}
	return nil
}

// Kill ends the whole tree by SIGKILL, a paused one too, and returns once the root was reaped. It may be called twice.
func (p *Process) Kill(ctx context.Context) error {
	if p.ended() {
		return nil
	}
	if err := killTree(p.root()); err != nil && !p.ended() {
		return fmt.Errorf("kill process %d: %w", p.Pid(), err)
	}
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("kill process %d: %w", p.Pid(), ctx.Err())
	}
}

// LogFile is where the process writes; empty without.
func (p *Process) LogFile() string { return p.log }

// LogTail returns up to the last n lines of the log.
func (p *Process) LogTail(n int) []string {
	lines, err := Tail(p.log, n)
	if err != nil {
		return nil // a tail only helps to explain another error
	}
	return lines
}

// Listens says whether a process of the tree listens on that TCP port; known is false where the platform doesn't tell.
func (p *Process) Listens(port int) (listens, known bool) { return treeListens(p.root(), port) }

func (p *Process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

func (p *Process) root() identity { return identity{pid: p.Pid(), start: p.start} }

// reap waits for the end of the root, takes the rest of its group along, and closes done.
func (p *Process) reap() {
	awaitExit(p.Pid())
	// The dead root still holds its pid, and so its group's id: nobody else's group can be hit.
	killGroup(p.Pid())
	err := p.cmd.Wait()
	p.mu.Lock()
	p.err = exitError(err)
	p.mu.Unlock()
	if p.stdin != nil {
		p.stdin.Close()
	}
	close(p.done)
}

func exitError(err error) error {
	var e *exec.ExitError
	if !errors.As(err, &e) {
		return err
	}
	if s, ok := e.Sys().(syscall.WaitStatus); ok && s.Signaled() {
		return fmt.Errorf("it was killed by signal %d (%v)", int(s.Signal()), s.Signal())
	}
	return fmt.Errorf("it exited with status %d", e.ExitCode())
}

package proc

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/locktest/locktest/internal/disk"
	"github.com/locktest/locktest/internal/monotime"
)

// Supervisor is how to start this program's own binary again as the supervisor: a process that runs Supervise. Without a
// Path there is none, and only the death signal of Linux ends what a killed harness leaves behind.
type Supervisor struct {
	Path string
	Args []string
	Env  []string // added to this process's environment
}

// Options of a Spawner.
type Options struct {
	Supervisor Supervisor
	Log        *slog.Logger // nil: nothing is logged
}

// Spawner starts processes. All of them die with it, and with this process.
type Spawner struct {
	log     *slog.Logger
	mark    string // in the environment of everything started
	harness string // the Ident of this process
	super   *supervisor
	jobs    chan func()
	end     chan struct{}
	gone    sync.WaitGroup

	mu     sync.Mutex
	closed bool
	alive  map[*Process]struct{}
	dirs   []string
	disks  []string
}

// markName is the environment variable by which processes of a Spawner are found again, whatever became of their parents.
const markName = "LOCKTEST_SPAWNER"

// NewSpawner returns one whose supervisor, if there is to be one, runs. Close it.
func NewSpawner(o Options) (*Spawner, error) {
	if !supported {
		return nil, fmt.Errorf("start processes: %w", ErrUnsupported)
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Spawner{
		log:     o.Log,
		mark:    fmt.Sprintf("%s=%d-%d", markName, os.Getpid(), monotime.Now()),
		harness: OwnIdent(),
		jobs:    make(chan func()),
		end:     make(chan struct{}),
		alive:   map[*Process]struct{}{},
	}
	if o.Supervisor.Path != "" {
		sv, err := startSupervisor(o.Supervisor, s.mark)
		if err != nil {
			return nil, fmt.Errorf("start the supervisor: %w", err)
		}
		s.super = sv
	}
	s.gone.Add(1)
	go s.forkAlways()
	return s, nil
}

// Start starts c in a process group of its own.
func (s *Spawner) Start(c Command) (*Process, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, fmt.Errorf("start %s: the spawner is closed", c.Path)
	}
	p, err := s.start(c)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", c.Path, err)
	}
	s.alive[p] = struct{}{}
	s.gone.Add(1)
	go s.forget(p)
	return p, nil
}

// RemoveLater removes a folder once all processes are gone: Close does, or the supervisor of a killed harness. Its name has to
// begin with TempPrefix, so that no mistake removes anything else.
func (s *Spawner) RemoveLater(dir string) error {
	if err := checkTemp(dir); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dirs = append(s.dirs, dir)
	s.super.say(s.log, wordDir, dir)
	return nil
}

// UnmountLater unmounts the disk of a folder once all processes are gone, before folders are removed, and thaws it before that,
// since processes that wait for it can't die. The folder has to be one of a folder that RemoveLater would take.
func (s *Spawner) UnmountLater(dir string) error {
	if err := checkTemp(filepath.Dir(dir)); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.disks = append(s.disks, dir)
	s.super.say(s.log, wordDisk, dir)
	return nil
}

// Close kills every process that still runs, ends the supervisor and returns once all are gone. It may be called twice.
func (s *Spawner) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	dirs, disks := s.dirs, s.disks
	left := make([]*Process, 0, len(s.alive))
	for p := range s.alive {
		left = append(left, p)
	}
	s.mu.Unlock()

	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	thawAll(disks)
	var errs []error
	for _, p := range left {
		errs = append(errs, p.Kill(ctx))
	}
	errs = append(errs, sweep(ctx, hunt{mark: s.mark}))
	close(s.end)
	s.gone.Wait()
	errs = append(errs, clearAll(disks, dirs))
	if s.super != nil {
		errs = append(errs, s.super.close())
	}
	return errors.Join(errs...)
}

// forkAlways runs every start on one thread that lasts as long as s: a child's death signal is sent when the thread
// that forked it ends, and the runtime ends threads as it likes.
func (s *Spawner) forkAlways() {
	defer s.gone.Done()
	runtime.LockOSThread()
	for {
		select {
		case job := <-s.jobs:
			job()
		case <-s.end:
			return // still locked, so the thread ends too: nothing that it started is alive
		}
	}
}

func (s *Spawner) start(c Command) (*Process, error) {
	p := &Process{log: c.Log, done: make(chan struct{})}
	p.cmd = exec.Command(c.Path, c.Args...)
	p.cmd.Env = append(append(os.Environ(), c.Env...), s.mark, harnessName+"="+s.harness)
	p.cmd.Dir = c.Dir
	p.cmd.SysProcAttr = childAttr()
	runAs(p.cmd.SysProcAttr, c.User)
	childEnds, err := p.plumb(c)
	defer closeAll(childEnds)
	if err != nil {
		p.closePipes()
		return nil, err
	}
	result := make(chan error)
	s.jobs <- func() { result <- p.cmd.Start() }
	if err := <-result; err != nil {
		p.closePipes()
		return nil, err
	}
	p.start = startOf(p.Pid())
	s.super.tell(s.log, "+", p.root())
	return p, nil
}

// plumb sets the standard streams and returns the files that only the child needs.
func (p *Process) plumb(c Command) (childEnds []*os.File, err error) {
	if c.Log != "" {
		f, err := os.OpenFile(c.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
		if err != nil {
			return childEnds, err
		}
		childEnds = append(childEnds, f)
		p.cmd.Stdout, p.cmd.Stderr = f, f
	}
	if c.Stdin {
		r, w, err := os.Pipe()
		if err != nil {
			return childEnds, err
		}
		childEnds = append(childEnds, r)
		p.cmd.Stdin, p.stdin = r, w
	}
	if c.Stdout {
		r, w, err := os.Pipe()
		if err != nil {
			return childEnds, err
		}
		childEnds = append(childEnds, w)
		p.cmd.Stdout, p.stdout = w, r
	}
	return childEnds, nil
}

func (p *Process) closePipes() {
	if p.stdin != nil {
		p.stdin.Close()
	}
	if p.stdout != nil {
		p.stdout.Close()
	}
}

func (s *Spawner) forget(p *Process) {
	defer s.gone.Done()
	p.reap()
	s.super.tell(s.log, "-", p.root())
	s.mu.Lock()
	delete(s.alive, p)
	s.mu.Unlock()
}

// TempPrefix begins the names of folders that may be removed.
const TempPrefix = "locktest-"

func checkTemp(dir string) error {
	if !filepath.IsAbs(dir) || !strings.HasPrefix(filepath.Base(dir), TempPrefix) || strings.ContainsAny(dir, "\n\r") {
		return fmt.Errorf("remove %s: its name doesn't begin with %s, or isn't a whole path", dir, TempPrefix)
	}
	return nil
}

// thawAll lets processes that wait for a frozen disk go on, or die.
func thawAll(disks []string) {
	for _, dir := range disks {
		disk.Thaw(dir) // unmounting says what is wrong
	}
}

// clearAll unmounts, and removes what isn't mounted on any more.
func clearAll(disks, dirs []string) error {
	var errs []error
	for _, dir := range disks {
		errs = append(errs, disk.Remove(dir))
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	for _, dir := range dirs {
		errs = append(errs, os.RemoveAll(dir))
	}
	return errors.Join(errs...)
}

func closeAll(files []*os.File) {
	for _, f := range files {
		f.Close()
	}
}

package proc

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// The words that a Spawner and its supervisor exchange, one line each.
const (
	wordReady = "ready"
	wordMark  = "mark" // mark NAME=VALUE
	wordAdd   = "+"    // + PID START
	wordGone  = "-"    // - PID START
	wordDir   = "dir"  // dir PATH: to be removed in the end
	wordDisk  = "disk" // disk PATH: mounted there, to be unmounted in the end
	wordEnd   = "end"
)

// Supervise is the whole life of the supervisor: a program that finds its hidden argument calls it before anything else, and
// exits with what it returns. It answers on out once it listens, learns on in what was started, and when in ends without a
// word of farewell it kills all that is left, then calls bereft, if there is one, once its parent is gone. Interrupts and
// hang-ups are none of its business.
func Supervise(in io.Reader, out io.Writer, bereft func(context.Context) error) (status int) {
	parent := os.Getppid()
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
	w := &watch{hunt: hunt{roots: map[int]string{}, seen: map[int]string{}}}
	fmt.Fprintln(out, wordReady)
	if w.follow(in) {
		return 0
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	thawAll(w.disks)
	err := errors.Join(sweep(ctx, w.hunt), clearAll(w.disks, w.dirs))
	if bereft != nil {
		err = errors.Join(err, mourn(parent, bereft))
	}
	if err != nil {
		return 1
	}
	return 0
}

// mourn waits until the parent is gone: a process that dies closes what it has open first, and counts as alive for a while.
func mourn(parent int, bereft func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	for os.Getppid() == parent {
		select {
		case <-ctx.Done():
			return fmt.Errorf("the parent has closed the pipe, and lives")
		case <-time.After(5 * time.Millisecond):
		}
	}
	return bereft(ctx)
}

// watch is what a supervisor knows.
type watch struct {
	hunt  hunt
	dirs  []string
	disks []string
}

// lookStep is how often the supervisor notes the descendants of what it watches over.
const lookStep = 500 * time.Millisecond

// follow reads words until the farewell (true) or the end of in (false).
func (w *watch) follow(in io.Reader) bool {
	lines := make(chan string)
	go func() {
		defer close(lines)
		for s := bufio.NewScanner(in); s.Scan(); {
			lines <- s.Text()
		}
	}()
	t := time.NewTicker(lookStep)
	defer t.Stop()
	for {
		select {
		case line, ok := <-lines:
			if !ok || line == wordEnd {
				return ok
			}
			w.hear(line)
		case <-t.C:
			w.look()
		}
	}
}

func (w *watch) hear(line string) {
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case wordMark:
		w.hunt.mark = rest
		return
	case wordDir:
		if checkTemp(rest) == nil {
			w.dirs = append(w.dirs, rest)
		}
		return
	case wordDisk:
		if checkTemp(filepath.Dir(rest)) == nil {
			w.disks = append(w.disks, rest)
		}
		return
	}
	number, start, _ := strings.Cut(rest, " ")
	pid, err := strconv.Atoi(number)
	if err != nil || pid <= 1 { // never init, nor a group
		return
	}
	switch word {
	case wordAdd:
		w.hunt.roots[pid] = start
	case wordGone:
		if w.hunt.roots[pid] == start {
			delete(w.hunt.roots, pid)
		}
	}
}

// look notes who descends from what was started, for the time when their parents are gone.
func (w *watch) look() {
	if len(w.hunt.roots) == 0 {
		clear(w.hunt.seen)
		return
	}
	table, err := snapshot()
	if err != nil {
		return
	}
	all := w.hunt.prey(table)
	clear(w.hunt.seen)
	for _, e := range all {
		w.hunt.seen[e.pid] = e.start
	}
}

// supervisor is the Spawner's side. A nil one hears nothing.
type supervisor struct {
	cmd  *exec.Cmd
	pipe *os.File

	mu     sync.Mutex
	broken bool
}

// readyLimit is how long a supervisor may take to answer.
const readyLimit = 20 * time.Second

func startSupervisor(o Supervisor, mark string) (*supervisor, error) {
	ours, err := os.Executable()
	if err == nil && o.Path == ours && len(o.Args) == 0 && len(o.Env) == 0 {
		return nil, errors.New("it would be this program without any argument")
	}
	inR, inW, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer inR.Close()
	outR, outW, err := os.Pipe()
	if err != nil {
		inW.Close()
		return nil, err
	}
	defer outR.Close()
	cmd := exec.Command(o.Path, o.Args...)
	cmd.Env = append(os.Environ(), o.Env...)
	cmd.Stdin, cmd.Stdout = inR, outW
	cmd.SysProcAttr = apartAttr()
	err = cmd.Start()
	outW.Close()
	if err != nil {
		inW.Close()
		return nil, err
	}
	if err := awaitWord(outR); err != nil {
		inW.Close()
		cmd.Process.Kill()
		cmd.Wait()
		return nil, err
	}
	s := &supervisor{cmd: cmd, pipe: inW}
	_, err = fmt.Fprintln(inW, wordMark, mark)
	return s, err
}

func awaitWord(r *os.File) error {
	if err := r.SetReadDeadline(time.Now().Add(readyLimit)); err != nil {
		return err
	}
	line, err := bufio.NewReader(r).ReadString('\n')
	if line == wordReady+"\n" {
		return nil
	}
	return fmt.Errorf("it should have said %q, and said %q (%v)", wordReady, line, err)
}

// tell never fails a start: without its supervisor the harness still has the death signal.
func (s *supervisor) tell(log *slog.Logger, word string, id identity) {
	s.say(log, word, id.pid, id.start)
}

func (s *supervisor) say(log *slog.Logger, words ...any) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken {
		return
	}
	if _, err := fmt.Fprintln(s.pipe, words...); err != nil {
		s.broken = true
		log.Warn("the supervisor is gone: a killed harness may leave processes behind", "error", err)
	}
}

func (s *supervisor) close() error {
	s.mu.Lock()
	if !s.broken {
		fmt.Fprintln(s.pipe, wordEnd) // if it is gone already, Wait says so
	}
	s.broken = true
	s.pipe.Close()
	s.mu.Unlock()
	if err := s.cmd.Wait(); err != nil {
		return fmt.Errorf("end the supervisor: %w", err)
	}
	return nil
}

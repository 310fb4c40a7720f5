package clients

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/locktest/locktest/internal/proc"
)

// ProcessConfig says how a client's process is started.
type ProcessConfig struct {
	Name    string
	Spawner *proc.Spawner
	Command proc.Command   // its pipes and log are set here
	Stderr  string         // file for its standard error
	Stdout  string         // file for lines on its standard output that are no messages
	Options map[string]any // of hello
	Tell    func(Event)    // from any goroutine
	Log     *slog.Logger
}

// Limits on a client that is healthy.
const (
	helloLimit = 10 * time.Second
	closeLimit = 2 * time.Second
)

// Process is a client that is an OS process of its own, in any language. Pause is SIGSTOP and Kill is SIGKILL of its tree.
type Process struct {
	config ProcessConfig

	mu     sync.Mutex
	life   *life         // the running process
	alive  chan struct{} // closed while it answers
	nextID int64
	rubble int // lines that were no messages
}

// life is one process from its start to its end.
type life struct {
	proc   *proc.Process
	wmu    sync.Mutex // of stdin
	killed bool       // by us: its end is no fault of its own
	over   chan struct{}
	open   map[int64]call
	paused []interval
	read   chan struct{} // closed when its output has ended
}

// call is a request without a reply yet.
type call struct {
	op    Op
	reply chan message // has room for one
}

// interval of a pause; to is zero while it lasts.
type interval struct{ from, to time.Time }

// StartProcess starts the client and waits for its hello.
func StartProcess(ctx context.Context, c ProcessConfig) (*Process, error) {
	p := &Process{config: c, alive: make(chan struct{})}
	if err := p.start(ctx); err != nil {
		return nil, err
	}
	return p, nil
}

// Name is c1, c2, …
func (p *Process) Name() string { return p.config.Name }

func (p *Process) start(ctx context.Context) error {
	cmd := p.config.Command
	cmd.Stdin, cmd.Stdout, cmd.Log = true, true, p.config.Stderr
	process, err := p.config.Spawner.Start(cmd)
	if err != nil {
		return p.fault("could not be started", err.Error())
	}
	l := &life{proc: process, over: make(chan struct{}), open: map[int64]call{}, read: make(chan struct{})}
	p.mu.Lock()
	p.life = l
	p.mu.Unlock()
	go p.listen(l)
	if err := p.greet(ctx, l); err != nil {
		p.end(l)
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !l.killed {
		close(p.alive)
	}
	return nil
}

// Pid is the running process; 0 once it was killed.
func (p *Process) Pid() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.life == nil || p.life.killed {
		return 0
	}
	return p.life.proc.Pid()
}

// Died is closed when the life that the client has now, or had last, has ended.
func (p *Process) Died() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.life.over
}

// Await returns once the client lives. A client that died by itself never does again.
func (p *Process) Await(ctx context.Context) error {
	p.mu.Lock()
	alive := p.alive
	p.mu.Unlock()
	return await(ctx, alive)
}

// greet sends hello, whose reply has to come within helloLimit: some languages start slowly.
func (p *Process) greet(ctx context.Context, l *life) error {
	ctx, cancel := context.WithTimeout(ctx, helloLimit)
	defer cancel()
	m, err := p.exchange(ctx, l, OpHello, 0, line(hello{Op: OpHello, V: Version, Client: p.config.Name, Options: p.config.Options}))
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return p.fault(fmt.Sprintf("did not answer hello in %v", helloLimit), p.tail(l)...)
	case err != nil:
		return err
	case m.reply.Result != OK:
		return p.fault("refused hello: "+m.reply.Error, p.tail(l)...)
	}
	return nil
}

// Do sends r under an id of its own.
func (p *Process) Do(ctx context.Context, r Request) (Reply, error) {
	p.mu.Lock()
	l := p.life
	p.nextID++
	r.ID = p.nextID
	p.mu.Unlock()
	called := time.Now()
	m, err := p.exchange(ctx, l, r.Op, r.ID, encodeRequest(r))
	if err != nil {
		return Reply{}, err
	}
	if m.valid != nil && m.reply.Until.IsZero() { // the certain part of the belief: counted from the call
		m.reply.Until = called.Add(milliseconds(*m.valid))
	}
	return m.reply, nil
}

func (p *Process) exchange(ctx context.Context, l *life, op Op, id int64, request []byte) (message, error) {
	c := call{op: op, reply: make(chan message, 1)}
	p.mu.Lock()
	l.open[id] = c
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		delete(l.open, id)
		p.mu.Unlock()
	}()
	if l.send(request) != nil {
		return message{}, p.deathOf(ctx, l)
	}
	select {
	case m := <-c.reply:
		return m, nil
	case <-l.over:
		return message{}, p.deathOf(ctx, l)
	case <-ctx.Done():
		return message{}, ctx.Err()
	}
}

func (l *life) send(request []byte) error {
	l.wmu.Lock()
	defer l.wmu.Unlock()
	_, err := l.proc.Stdin().Write(request)
	return err
}

// deathOf says what became of l: it was killed by us, or it died by itself.
func (p *Process) deathOf(ctx context.Context, l *life) error {
	select {
	case <-l.over:
	case <-ctx.Done():
		return ctx.Err()
	}
	p.mu.Lock()
	killed := l.killed
	p.mu.Unlock()
	if killed {
		return ErrDead
	}
	how := "its output ended"
	if err := l.proc.ExitErr(); err != nil {
		how = err.Error()
	}
	return p.fault("died outside any fault", append([]string{how}, p.tail(l)...)...)
}

func (p *Process) fault(message string, details ...string) error {
	return &AdapterError{Client: p.config.Name, Message: message, Details: details}
}

// tail is the end of the client's standard error.
func (p *Process) tail(l *life) []string {
	lines := l.proc.LogTail(8)
	if len(lines) == 0 {
		return nil
	}
	return append([]string{"last lines of " + p.config.Stderr + ":"}, lines...)
}

// listen takes messages until the output ends.
func (p *Process) listen(l *life) {
	defer close(l.read)
	h := &hearer{client: p.config.Name}
	sc := bufio.NewScanner(l.proc.Stdout())
	sc.Buffer(make([]byte, 1<<12), maxLine)
	for sc.Scan() {
		if b := bytes.TrimSpace(sc.Bytes()); len(b) > 0 {
			p.message(l, h, b)
		}
	}
	if sc.Err() != nil { // a line that never ends: nothing after it can be understood
		p.config.Log.Warn("client's output can't be read", "client", p.config.Name, "error", sc.Err())
		l.proc.Kill(context.Background())
	}
	<-l.proc.Done()
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-l.over:
	default:
		close(l.over)
	}
}

func (p *Process) message(l *life, h *hearer, b []byte) {
	m, err := h.message(b)
	if err != nil {
		p.rubbish(b)
		return
	}
	p.mu.Lock()
	if l.killed { // what is still in the pipe was never heard
		p.mu.Unlock()
		return
	}
	if m.event != nil {
		injected := m.event.Kind == Stalled && l.wasPaused(time.Now().Add(-m.event.Late))
		p.mu.Unlock()
		if !injected {
			p.config.Tell(*m.event)
		}
		return
	}
	c, ok := l.open[m.reply.ID]
	delete(l.open, m.reply.ID)
	p.mu.Unlock()
	if ok {
		c.reply <- m
	}
}

// wasPaused says whether a pause of ours reached into the time since from.
func (l *life) wasPaused(from time.Time) bool {
	const slack = 50 * time.Millisecond // a client that was stopped has to be scheduled again
	for _, i := range l.paused {
		if i.to.IsZero() || i.to.Add(slack).After(from) {
			return true
		}
	}
	return false
}

// rubbish keeps a line that is no message; the first of a client is told.
func (p *Process) rubbish(b []byte) {
	p.mu.Lock()
	p.rubble++
	first := p.rubble == 1
	p.mu.Unlock()
	if first {
		p.config.Log.Warn("client printed something that is not a reply", "code", "LT201", "client", p.config.Name, "line", fmt.Sprintf("%.200s", b),
			"hint", "lines on stdout must be JSON replies; send logs to stderr", "kept", p.config.Stdout)
	}
	f, err := os.OpenFile(p.config.Stdout, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return // the warning above has the line
	}
	defer f.Close()
	f.Write(append(b, '\n'))
}

// Rubbish is how many lines of output were no messages.
func (p *Process) Rubbish() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.rubble
}

// Pause stops the process tree.
func (p *Process) Pause(ctx context.Context) error {
	p.mu.Lock()
	l := p.life
	l.paused = append(l.paused, interval{from: time.Now()})
	p.mu.Unlock()
	return l.proc.Pause(ctx)
}

// Resume lets it run again.
func (p *Process) Resume(ctx context.Context) error {
	p.mu.Lock()
	l := p.life
	for i := range l.paused {
		if l.paused[i].to.IsZero() {
			l.paused[i].to = time.Now()
		}
	}
	p.mu.Unlock()
	return l.proc.Resume(ctx)
}

// Kill ends the process tree by SIGKILL. Nothing that the client wrote and that was not heard yet counts.
func (p *Process) Kill(ctx context.Context) error {
	p.mu.Lock()
	l := p.life
	if !l.killed {
		l.killed, p.alive = true, make(chan struct{})
	}
	select {
	case <-l.over:
	default:
		close(l.over)
	}
	p.mu.Unlock()
	return l.proc.Kill(ctx)
}

// Restart starts a new process of the same name, after Kill.
func (p *Process) Restart(ctx context.Context) error { return p.start(ctx) }

// Close ends the client's input and waits for it to leave.
func (p *Process) Close() error {
	p.mu.Lock()
	l := p.life
	l.killed = true // its end is no fault of its own from here on
	p.mu.Unlock()
	l.proc.Stdin().Close()
	p.end(l)
	return nil
}

func (p *Process) end(l *life) {
	ctx, cancel := context.WithTimeout(context.Background(), closeLimit)
	defer cancel()
	if l.proc.Wait(ctx); ctx.Err() != nil {
		l.proc.Kill(context.Background())
	}
	<-l.read
}

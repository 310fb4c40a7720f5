package reports

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/locktest/locktest/history"
	"github.com/locktest/locktest/runner"
)

// redrawEvery keeps a terminal at 8 drawings a second; plainEvery is how often a log gets a line of counts.
const (
	redrawEvery = 125 * time.Millisecond
	plainEvery  = 10 * time.Second
)

// Progress tells how a run goes while it lasts: on a terminal a block that is drawn in place, elsewhere a line for each
// thing that happens and for the counts now and then. Its methods may be called from any goroutine.
type Progress struct {
	w     io.Writer
	style Style
	tty   bool

	mu     sync.Mutex
	title  string
	length time.Duration
	settle time.Duration // when the settle phase begins
	phase  string
	began  time.Time
	counts func() runner.Counts
	faults map[faultKey]*history.Op // in effect
	order  []faultKey
	begun  int // faults, each time that one did
	drawn  int // lines of the block on the screen

	stop chan struct{}
	done chan struct{}
}

type faultKey struct {
	client  string
	process int
	fault   int
}

// NewProgress tells of one run to w. tty says that w is a terminal on which lines may be drawn again.
func NewProgress(w io.Writer, style Style, tty bool) *Progress {
	return &Progress{w: w, style: style, tty: tty, faults: map[faultKey]*history.Op{}}
}

// Title is the first line: which scenario, lock, servers, seed and run.
func (p *Progress) Title(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.title = clean(text)
	if !p.tty {
		p.log(p.title)
	}
}

// Begin starts to tell of counts; the run's clock began at began and it lasts for length, the last settle of it without
// faults. End must follow.
func (p *Progress) Begin(began time.Time, length, settle time.Duration, counts func() runner.Counts) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.began, p.length, p.settle, p.counts = began, length, length-settle, counts
	p.stop, p.done = make(chan struct{}), make(chan struct{})
	go p.tick(p.stop, p.done)
}

func (p *Progress) tick(stop, done chan struct{}) {
	defer close(done)
	every := plainEvery
	if p.tty {
		every = redrawEvery
	}
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		select {
		case <-stop:
			return
		case <-t.C:
			p.mu.Lock()
			p.update()
			p.mu.Unlock()
		}
	}
}

func (p *Progress) update() {
	if p.tty {
		p.draw()
		return
	}
	c := p.counts()
	p.logAt(time.Since(p.began), fmt.Sprintf("until now: %s", p.tally(c)))
}

// tally has the words and the meaning of the result: grants of all parts of the run, and each time that a fault began.
func (p *Progress) tally(c runner.Counts) string {
	text := fmt.Sprintf("%s, %s not granted", count(c.Acquired, "grant"), grouped(c.Refused))
	if p.begun > 0 {
		text += fmt.Sprintf(", faults began %s", times(p.begun))
	}
	return text
}

// End stops telling: a log has the counts of the whole run in the end, on a terminal the block is removed. It may be called twice, and without Begin.
func (p *Progress) End() {
	p.mu.Lock()
	stop, done := p.stop, p.done
	p.stop = nil
	p.mu.Unlock()
	if stop == nil {
		return
	}
	close(stop)
	<-done
	p.mu.Lock()
	defer p.mu.Unlock()
	p.erase()
	if !p.tty {
		p.logAt(time.Since(p.began), fmt.Sprintf("in all: %s", p.tally(p.counts())))
	}
}

// Event tells of one event of the nemesis or of the run's parts.
func (p *Progress) Event(op history.Op) {
	p.mu.Lock()
	defer p.mu.Unlock()
	k := faultKey{op.Client, op.Process, op.Fault}
	text := clean(op.Text)
	if text == "" {
		text = strings.TrimSpace(string(op.F) + " " + strings.Join(op.Targets, " "))
	}
	switch op.Type {
	case history.FaultBegin:
		p.faults[k] = &op
		p.order = append(p.order, k)
		p.begun++
		p.tell(op.Time, fmt.Sprintf("fault %d begins: %s", op.Fault, text))
	case history.FaultEnd:
		ends := fmt.Sprintf("fault %d ends", op.Fault)
		if begun := p.faults[k]; begun != nil && begun.Text != op.Text && op.Text != "" {
			ends += ": " + text // it shows only now what it did
		}
		p.forget(k)
		p.tell(op.Time, ends)
	case history.FaultMissed:
		p.tell(op.Time, fmt.Sprintf("fault %d did not apply: %s", op.Fault, clean(op.Error)))
	case history.HostStall:
		p.tell(op.Time, fmt.Sprintf("the host stalled for %s", long(op.TTL)))
	case history.Phase:
		p.phase = op.Name
		if op.Name != history.PhaseEnd {
			p.tell(op.Time, "phase: "+op.Name)
		}
	}
}

// forget takes a fault off those in effect. Its end may have been told by another process number.
func (p *Progress) forget(k faultKey) {
	delete(p.faults, k)
	for i, o := range p.order {
		if o == k {
			p.order = append(p.order[:i:i], p.order[i+1:]...)
			return
		}
	}
}

// tell writes a line to a log. On a terminal the block shows the same.
func (p *Progress) tell(at time.Duration, text string) {
	if !p.tty {
		p.logAt(at, text)
	}
}

// Note writes a line that stays, above the block on a terminal: a warning, or that Ctrl-C was understood.
func (p *Progress) Note(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.erase()
	p.log(strings.TrimPrefix(clean(text), "locktest: "))
	if p.tty && p.stop != nil {
		p.draw()
	}
}

func (p *Progress) logAt(at time.Duration, text string) {
	p.log(fmt.Sprintf("%5.1fs  %s", at.Seconds(), text))
}

// log writes one whole line; who reads progress can't be told that it could not be written.
func (p *Progress) log(text string) {
	text = "locktest: " + text + "\n"
	if p.style.ASCII {
		text = toASCII(text)
	}
	_, _ = io.WriteString(p.w, text)
}

// erase removes the block from the screen.
func (p *Progress) erase() {
	if p.drawn > 0 {
		_, _ = fmt.Fprintf(p.w, "\x1b[%dA\x1b[J", p.drawn)
	}
	p.drawn = 0
}

// draw writes the block over the one before, in one write so that it does not flicker.
func (p *Progress) draw() {
	lines := p.block(time.Since(p.began), p.counts())
	var b strings.Builder
	if p.drawn > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", p.drawn)
	}
	for _, l := range lines {
		b.WriteString("\x1b[2K" + l + "\n")
	}
	b.WriteString("\x1b[J")
	p.drawn = len(lines)
	text := b.String()
	if p.style.ASCII {
		text = strings.ReplaceAll(toASCII(strings.ReplaceAll(text, "\x1b", "\x00")), "\x00", "\x1b")
	}
	_, _ = io.WriteString(p.w, text)
}

// block is what a terminal shows: title, bar, counts, who holds, and faults in effect.
func (p *Progress) block(now time.Duration, c runner.Counts) []string {
	const bar = 32
	wide := p.style.width()
	now = min(max(now, 0), p.length)
	full := 0
	if p.length > 0 {
		full = int(now * bar / p.length)
	}
	lines := []string{
		" " + p.title,
		fmt.Sprintf(" %s%s  %s / %s   %s", strings.Repeat("█", full), strings.Repeat("░", bar-full), clock(now), clock(p.length), p.phase),
		" until now: " + p.tally(c),
		fmt.Sprintf(" holding  %s   waiting %s", none(c.Holders), none(c.Waiters)),
	}
	for _, k := range p.order {
		op := p.faults[k]
		if op == nil {
			continue
		}
		lines = append(lines, fmt.Sprintf(" fault %d  %s, for %s", op.Fault, clean(op.Text), short(max(now-op.Time, 0))))
	}
	lines = append(lines, " Ctrl-C stops faults, heals and checks what was recorded")
	for i := range lines {
		lines[i] = cut(lines[i], wide)
	}
	return lines
}

func none(names []string) string {
	if len(names) == 0 {
		return "-"
	}
	return strings.Join(names, " ")
}

func clock(d time.Duration) string {
	s := int(d / time.Second)
	return fmt.Sprintf("%02d:%02d", s/60, s%60)
}

// cut keeps a line from breaking on the screen, which would spoil the count of lines to go up.
func cut(line string, wide int) string {
	if utf8.RuneCountInString(line) <= wide {
		return line
	}
	return string([]rune(line)[:wide-1]) + "…"
}

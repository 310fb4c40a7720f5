package reports

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locktest/locktest/history"
	"github.com/locktest/locktest/runner"
)

// screenBuffer is a writer for several goroutines.
type screenBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *screenBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *screenBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func begin(p *Progress) {
	p.Title("quickstart, redis/single on redis-server 7.0.15, seed 42, run 7f3a")
	p.Begin(time.Now(), 60*time.Second, 8*time.Second, func() runner.Counts {
		return runner.Counts{Acquired: 1203, Refused: 310, Holders: []string{"c2"}, Waiters: []string{"c1", "c3"}}
	})
}

func TestProgressWithoutTerminal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &screenBuffer{}
		p := NewProgress(out, Style{}, false)
		begin(p)
		p.Event(history.Op{Type: history.Phase, Name: history.PhaseFaults, Time: 2 * time.Second})
		p.Event(history.Op{Type: history.FaultBegin, F: "partition", Fault: 1, Process: 1, Client: "nemesis", Text: "partition [n1 n2] | [n3 clients]", Time: 5 * time.Second})
		time.Sleep(10*time.Second + time.Millisecond)
		synctest.Wait()
		p.Event(history.Op{Type: history.FaultEnd, F: "partition", Fault: 1, Process: 1, Client: "nemesis", Time: 13 * time.Second})
		p.Event(history.Op{Type: history.FaultMissed, F: "pause", Fault: 2, Client: "nemesis", Time: 14 * time.Second, Error: "no client held a lock within 2 s\x1b[2J"})
		p.Event(history.Op{Type: history.HostStall, Time: 15 * time.Second, TTL: 300 * time.Millisecond})
		p.Note("stopping faults, healing, checking what was recorded (Ctrl-C again to leave at once)")
		p.End()
		p.End()
		golden(t, "testdata/progress.plain.golden", out.String())
		if strings.ContainsRune(out.String(), '\x1b') {
			t.Error("an escape sequence in a log")
		}
	})
}

func TestProgressOnTerminal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &screenBuffer{}
		p := NewProgress(out, Style{}, true)
		begin(p)
		p.Event(history.Op{Type: history.FaultBegin, F: "pause", Fault: 3, Process: 1, Client: "nemesis", Text: "pause c2 (SIGSTOP), " + strings.Repeat("long ", 20), Time: 0})
		time.Sleep(time.Second + time.Millisecond)
		synctest.Wait()
		p.Note("a line that stays")
		p.End()
		text := out.String()
		if n := strings.Count(text, "quickstart"); n > 10 || n < 8 {
			t.Errorf("%d drawings in a second, at most 8 and one after each note are wanted", n)
		}
		left := shown(text)
		if strings.Join(left, "\n") != "locktest: a line that stays\n" {
			t.Errorf("left on the screen: %q", left)
		}
		for _, l := range strings.Split(text, "\n") {
			if n := len([]rune(strings.ReplaceAll(strings.ReplaceAll(l, "\x1b[2K", ""), "\x1b[J", ""))); n > 80+len("\x1b[99A") {
				t.Errorf("a line of %d characters breaks: %q", n, l)
			}
		}
	})
}

// shown plays a terminal: what is left after every line was written and the cursor moved up.
func shown(text string) []string {
	screen, row := []string{""}, 0
	for text != "" {
		switch {
		case strings.HasPrefix(text, "\x1b[2K"):
			screen[row], text = "", text[4:]
		case strings.HasPrefix(text, "\x1b[J"):
			screen, text = append(screen[:row], ""), text[3:]
		case strings.HasPrefix(text, "\x1b["):
			n := 0
			text = text[2:]
			for ; text[0] >= '0' && text[0] <= '9'; text = text[1:] {
				n = n*10 + int(text[0]-'0')
			}
			row, text = row-n, text[1:] // A
		case text[0] == '\n':
			row, text = row+1, text[1:]
			if row == len(screen) {
				screen = append(screen, "")
			}
		default:
			screen[row], text = screen[row]+text[:1], text[1:]
		}
	}
	return screen
}

func TestProgressBlock(t *testing.T) {
	p := NewProgress(&screenBuffer{}, Style{}, true)
	p.title, p.length, p.phase = "quickstart, redis/single", time.Minute, "faults"
	p.Event(history.Op{Type: history.FaultBegin, F: "pause", Fault: 3, Text: "pause c2 (SIGSTOP)", Time: 34 * time.Second})
	lines := p.block(37*time.Second, runner.Counts{Acquired: 4812, Refused: 1204, Holders: []string{"c4"}})
	golden(t, "testdata/progress.block.golden", strings.Join(lines, "\n")+"\n")
	p.Event(history.Op{Type: history.FaultEnd, F: "pause", Fault: 3, Time: 38 * time.Second})
	if lines := p.block(2*time.Minute, runner.Counts{}); len(lines) != 5 || !strings.Contains(lines[1], "01:00 / 01:00") {
		t.Errorf("%q", lines)
	}
}

package history

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// ReadEDN reads a history of Jepsen or Knossos: a vector of maps, or one map after the other. A vector that was cut off
// between two maps is told in Truncated. acquire and lock, release
// and unlock are known; anything else is an error. A process is a client, and the owner where c says that owners are
// compared; a crash makes Jepsen go on as a new process. What the nemesis starts and stops becomes a fault.
func ReadEDN(r io.Reader, c Contract) (*History, error) {
	b, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	records, truncated, err := parseEDN(string(b))
	if err != nil {
		return nil, err
	}
	f := newForeign(c)
	f.h.Truncated = truncated
	e := &ednImport{foreign: f}
	for _, x := range records {
		if err := e.record(x); err != nil {
			return nil, err
		}
	}
	return f.history()
}

type ednImport struct {
	*foreign
	faulty bool // a fault is in effect
	stops  int
}

func (e *ednImport) record(x ednMap) error {
	place := fmt.Sprintf("line %d", x.line)
	if i, ok := x.fields["index"]; ok {
		place += ", index " + i
	}
	ns, err := strconv.ParseInt(x.fields["time"], 10, 64)
	if err != nil {
		return fmt.Errorf("%s: %w: it has no :time in nanoseconds", place, ErrFormat)
	}
	at := time.Duration(ns)
	if x.fields["process"] == "nemesis" {
		e.nemesis(x.fields["f"], at)
		return nil
	}
	return e.operation(x, place, at)
}

// nemesis takes the first start for the beginning, and the second stop, the answer to the first, for the end.
func (e *ednImport) nemesis(f string, at time.Duration) {
	switch {
	case strings.HasPrefix(f, "start") && !e.faulty:
		e.faulty, e.stops = true, 0
		e.events = append(e.events, Op{Time: at, Client: "nemesis", Type: FaultBegin, F: "nemesis"})
	case strings.HasPrefix(f, "stop") && e.faulty:
		if e.stops++; e.stops == 2 {
			e.faulty = false
			e.events = append(e.events, Op{Time: at, Client: "nemesis", Type: FaultEnd, F: "nemesis"})
		}
	}
}

func (e *ednImport) operation(x ednMap, place string, at time.Duration) error {
	client := "p" + x.fields["process"]
	kind, known := map[string]F{"acquire": Acquire, "lock": Acquire, "release": Release, "unlock": Release}[x.fields["f"]]
	if !known {
		return fmt.Errorf("%s: %w: %q is no operation of a lock: want acquire or release", place, ErrFormat, x.fields["f"])
	}
	switch x.fields["type"] {
	case "invoke":
		name := x.fields["value"]
		if name == "" || name == "nil" {
			name = "lock"
		}
		return e.invoke(Op{Time: at, Client: client, F: kind, Lock: e.lock(name)}, place)
	case "ok":
		return e.answered(client, place, at, OK, nil)
	case "info":
		return e.answered(client, place, at, Info, nil)
	case "fail":
		return e.answered(client, place, at, Fail, func(o *Op) {
			o.Error = x.fields["error"]
			if o.F == Release && (strings.Contains(o.Error, "not-held") || strings.Contains(o.Error, "not-found")) {
				o.Outcome = NotHeld
			}
		})
	}
	return fmt.Errorf("%s: %w: %q is no type of record", place, ErrFormat, x.fields["type"])
}

// ednMap is a map whose keys are keywords; values are kept as text, keywords and strings without their marks.
type ednMap struct {
	line   int
	fields map[string]string
}

// parseEDN reads the maps of a history, which may stand in one vector. truncated says that its end is missing.
func parseEDN(s string) (out []ednMap, truncated string, err error) {
	p := &ednParser{s: s, line: 1}
	p.space()
	vector := p.accept('[')
	last := p.line
	for {
		p.space()
		switch {
		case vector && p.accept(']'):
			return out, "", p.nothing()
		case p.done() && vector:
			return out, fmt.Sprintf("the vector was cut off after line %d: it has no \"]\"", last), nil
		case p.done():
			return out, "", nil
		}
		m, err := p.record()
		if err != nil {
			return nil, "", fmt.Errorf("line %d: %w: %w", p.line, ErrFormat, err)
		}
		out, last = append(out, m), p.line
	}
}

// nothing refuses what follows the vector.
func (p *ednParser) nothing() error {
	if p.space(); p.done() {
		return nil
	}
	return fmt.Errorf("line %d: %w: something follows the vector: %.40q: expected one vector of maps", p.line, ErrFormat, p.s[p.at:])
}

type ednParser struct {
	s    string
	at   int
	line int
}

func (p *ednParser) done() bool { return p.at >= len(p.s) }

// space skips what means nothing: blanks, commas, comments.
func (p *ednParser) space() {
	for ; !p.done(); p.at++ {
		switch p.s[p.at] {
		case '\n':
			p.line++
		case ' ', '\t', '\r', ',':
		case ';':
			for p.at+1 < len(p.s) && p.s[p.at+1] != '\n' {
				p.at++
			}
		default:
			return
		}
	}
}

func (p *ednParser) accept(c byte) bool {
	if p.done() || p.s[p.at] != c {
		return false
	}
	p.at++
	return true
}

// record reads a map, perhaps with a tag such as #jepsen.history.Op before it.
func (p *ednParser) record() (ednMap, error) {
	if p.accept('#') {
		p.word()
		p.space()
	}
	m := ednMap{line: p.line, fields: map[string]string{}}
	if !p.accept('{') {
		return m, errors.New("expected a map, {:type …}")
	}
	for {
		p.space()
		if p.accept('}') {
			return m, nil
		}
		key, err := p.value(0)
		if err != nil {
			return m, err
		}
		p.space()
		if m.fields[key], err = p.value(0); err != nil {
			return m, err
		}
	}
}

// value reads anything; a collection is given back as its text.
func (p *ednParser) value(depth int) (string, error) {
	if p.done() {
		return "", errors.New("it ends within a map")
	}
	if depth > 100 {
		return "", errors.New("it is nested too deeply")
	}
	switch c := p.s[p.at]; c {
	case '"':
		return p.str()
	case '[', '(', '{':
		return p.collection(depth)
	case '#':
		p.at++
		if !p.done() && p.s[p.at] != '{' {
			p.word()
			p.space()
		}
		return p.value(depth + 1)
	case ']', ')', '}':
		return "", fmt.Errorf("%q closes nothing", c)
	case ':':
		p.at++
	}
	return p.word(), nil
}

func (p *ednParser) word() string {
	from := p.at
	for !p.done() && !strings.ContainsRune(" \t\r\n,;\"[](){}", rune(p.s[p.at])) {
		p.at++
	}
	if p.at == from && !p.done() {
		p.at++
	}
	return p.s[from:p.at]
}

func (p *ednParser) str() (string, error) {
	from := p.at
	for p.at++; !p.done() && p.s[p.at] != '"'; p.at++ {
		switch p.s[p.at] {
		case '\\':
			p.at++
		case '\n':
			p.line++
		}
	}
	if !p.accept('"') {
		return "", errors.New("a string does not end")
	}
	if s, err := strconv.Unquote(p.s[from:p.at]); err == nil {
		return s, nil
	}
	return p.s[from+1 : p.at-1], nil
}

func (p *ednParser) collection(depth int) (string, error) {
	from := p.at
	end := map[byte]byte{'[': ']', '(': ')', '{': '}'}[p.s[p.at]]
	for p.at++; ; {
		p.space()
		if p.accept(end) {
			return p.s[from:p.at], nil
		}
		if _, err := p.value(depth + 1); err != nil {
			return "", err
		}
	}
}

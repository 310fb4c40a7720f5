package wire

import (
	"bytes"
	"encoding/binary"
	"strings"
)

// postgres is PostgreSQL's protocol 3. A request is a simple query, or what is sent up to a Sync; its reply goes up to
// ReadyForQuery.
type postgres struct {
	started    bool // the client has sent its startup message
	asksTLS    bool // it has asked for encryption, and was not answered
	encrypted  bool
	ready      bool // the server has let it in
	sent       uint64
	answered   uint64
	open       bool // messages of a request that hasn't come to its end
	text       string
	statements map[string]string
}

// The first words of connections that are no startup.
const (
	cancelRequest = 80877102
	tlsRequest    = 80877103
	gssRequest    = 80877104
)

const startupLongest = 10000 // the server's own limit

func (p *postgres) size(fromClient bool, b []byte) int {
	switch {
	case p.encrypted:
		return -1
	case fromClient && !p.started:
		return framed(b, 0, 8, startupLongest)
	case !fromClient && p.asksTLS:
		return 1
	case b[0] < '1' || b[0] > 'z':
		return -1
	}
	return framed(b, 1, 4, longest)
}

// framed is the size of a message whose length, which counts itself, stands after so many bytes.
func framed(b []byte, after, least, most int) int {
	if len(b) < after+4 {
		return 0
	}
	n := int(int32(binary.BigEndian.Uint32(b[after:])))
	switch {
	case n < least || n > most:
		return -1
	case len(b) < after+n:
		return 0
	}
	return after + n
}

func (p *postgres) tell(fromClient bool, b []byte) Frame {
	switch {
	case fromClient && !p.started:
		p.startup(binary.BigEndian.Uint32(b[4:]))
		return Frame{}
	case fromClient:
		return p.question(b)
	case p.asksTLS:
		p.asksTLS, p.encrypted = false, b[0] != 'N'
		return Frame{}
	}
	return p.answer(b)
}

func (p *postgres) startup(word uint32) {
	p.asksTLS = word == tlsRequest || word == gssRequest
	p.started = !p.asksTLS
}

func (p *postgres) question(b []byte) Frame {
	kind, body := b[0], b[5:]
	switch kind {
	case 'p', 'X', 'd', 'c', 'f': // passwords, the end, and copied data
		return Frame{}
	}
	f := Frame{Kind: Request, ID: p.sent + 1, First: !p.open}
	if f.First {
		p.text = p.subject(kind, body)
		f.Text = p.text
	} else if kind == 'P' {
		p.subject(kind, body)
	}
	p.open = kind != 'Q' && kind != 'S' && kind != 'F'
	if !p.open {
		p.sent++
	}
	return f
}

// subject is the SQL that a message is about, or a word for it.
func (p *postgres) subject(kind byte, body []byte) string {
	first, rest, _ := bytes.Cut(body, []byte{0})
	second, _, _ := bytes.Cut(rest, []byte{0})
	switch kind {
	case 'Q':
		return tidy(first)
	case 'P':
		if len(p.statements) < 10000 {
			p.statements[string(first)] = tidy(second)
		}
		return tidy(second)
	case 'B':
		return p.statements[string(second)]
	case 'D':
		if len(first) > 0 {
			return "DESCRIBE " + p.statements[string(first[1:])]
		}
	case 'C':
		return "CLOSE"
	case 'F':
		return "FUNCTION"
	}
	return "SYNC"
}

// sqlLimit is how much of a statement its text says.
const sqlLimit = 300

// tidy puts single blanks where there is space.
func tidy(sql []byte) string {
	return strings.Join(strings.Fields(string(sql[:min(len(sql), sqlLimit)])), " ")
}

func (p *postgres) answer(b []byte) Frame {
	switch b[0] {
	case 'A':
		return Frame{Kind: Push, Text: notification(b[5:])}
	case 'N', 'S': // a notice, a changed setting
		return Frame{}
	}
	if !p.ready {
		p.ready = b[0] == 'Z'
		return Frame{}
	}
	if p.answered == p.sent && !p.open { // as when the server ends the session
		return Frame{}
	}
	f := Frame{Kind: Reply, ID: p.answered + 1}
	if b[0] == 'Z' {
		p.answered++
	}
	return f
}

// notification is its channel and its payload, which stand behind the sender's process.
func notification(body []byte) string {
	if len(body) < 4 {
		return ""
	}
	channel, rest, _ := bytes.Cut(body[4:], []byte{0})
	payload, _, _ := bytes.Cut(rest, []byte{0})
	return strings.TrimSpace(string(channel) + " " + string(payload[:min(len(payload), wordLimit)]))
}

package wire

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
)

// resp is Redis' protocol. Replies come in the order of the commands; subscriptions are confirmed by what looks like messages.
type resp struct {
	sent, answered uint64
	subscribed     bool // messages may come as plain arrays, as in version 2
	three          bool // messages come as pushes, as in version 3
	blind          bool // replies don't come one for each command any more
}

// size of an inline command is that of its line.
func (r *resp) size(fromClient bool, b []byte) int {
	switch {
	case r.blind:
		return -1
	case fromClient && b[0] != '*':
		return line(b)
	}
	return value(b, 0)
}

func (r *resp) tell(fromClient bool, b []byte) Frame {
	if fromClient {
		return r.command(b)
	}
	return r.answer(b)
}

func (r *resp) command(b []byte) Frame {
	words := commandWords(b)
	if len(words) == 0 {
		return Frame{} // an empty line has no answer
	}
	name := strings.ToUpper(words[0])
	f := Frame{Kind: Request, First: true, Text: strings.Join(append([]string{name}, words[1:]...), " ")}
	switch {
	case name == "MONITOR", name == "SYNC", name == "PSYNC", name == "CLIENT" && len(words) > 1 && strings.EqualFold(words[1], "REPLY"):
		r.blind = true
	case strings.HasSuffix(name, "UNSUBSCRIBE"):
	case strings.HasSuffix(name, "SUBSCRIBE"):
		r.subscribed = true
	default:
		r.sent++
		f.ID = r.sent
	}
	return f
}

func (r *resp) answer(b []byte) Frame {
	words := elements(b)
	r.three = r.three || b[0] == '>'
	if len(words) > 0 && (b[0] == '>' || b[0] == '*' && r.subscribed && !r.three) {
		switch words[0] {
		case "message", "pmessage", "smessage":
			return Frame{Kind: Push, Text: strings.Join(words, " ")}
		case "subscribe", "psubscribe", "ssubscribe":
			return Frame{}
		case "unsubscribe", "punsubscribe", "sunsubscribe":
			r.subscribed = words[len(words)-1] != "0"
			return Frame{}
		}
	}
	if b[0] == '>' { // such as a client-side cache's invalidation
		return Frame{Kind: Push, Text: strings.Join(words, " ")}
	}
	if r.answered == r.sent {
		return Frame{}
	}
	r.answered++
	return Frame{Kind: Reply, ID: r.answered}
}

// deepest is how deep replies may be nested.
const deepest = 16

// line is the length of the first line with its end; 0: it isn't whole.
func line(b []byte) int { return bytes.IndexByte(b, '\n') + 1 }

// value is the length of the first value.
func value(b []byte, depth int) int {
	if depth > deepest {
		return -1
	}
	n := line(b)
	if n == 0 {
		return 0
	}
	if n < 3 || b[n-2] != '\r' {
		return -1
	}
	many := 1
	switch b[0] {
	case '+', '-', ':', '_', ',', '#', '(':
		return n
	case '$', '=', '!':
		return bulk(b, n)
	case '*', '~', '>':
	case '%':
		many = 2
	case '|': // attributes, and then what they belong to
		attributes := aggregate(b, n, 2, depth)
		if attributes <= 0 || len(b) == attributes {
			return min(attributes, 0)
		}
		rest := value(b[attributes:], depth+1)
		if rest <= 0 {
			return rest
		}
		return attributes + rest
	default:
		return -1
	}
	return aggregate(b, n, many, depth)
}

// bulk is the length of text whose own length stands in the first n bytes.
func bulk(b []byte, n int) int {
	length, err := strconv.Atoi(string(b[1 : n-2]))
	switch {
	case err != nil || length < -1 || length > longest:
		return -1
	case length == -1:
		return n
	case len(b) < n+length+2:
		return 0
	case b[n+length] != '\r' || b[n+length+1] != '\n':
		return -1
	}
	return n + length + 2
}

// aggregate is the length of as many values as the first n bytes say, times many.
func aggregate(b []byte, n, many, depth int) int {
	count, err := strconv.Atoi(string(b[1 : n-2]))
	if err != nil || count < -1 || count > longest {
		return -1
	}
	for range count * many {
		if n == len(b) {
			return 0
		}
		size := value(b[n:], depth+1)
		if size <= 0 {
			return size
		}
		n += size
	}
	return n
}

// commandWords are the parts of a command, the long ones cut.
func commandWords(b []byte) []string {
	if b[0] == '*' {
		return elements(b)
	}
	return strings.Fields(string(b[:min(len(b), 200)]))
}

// wordLimit and wordsLimit are how much of a message its text says.
const (
	wordLimit  = 100
	wordsLimit = 8
)

// elements are the scalars that stand directly in an array, the first ones.
func elements(b []byte) []string {
	if !slices.Contains([]byte("*>"), b[0]) {
		return nil
	}
	var out []string
	for at := line(b); at < len(b) && len(out) < wordsLimit; {
		n := value(b[at:], 0)
		if n <= 0 {
			break
		}
		out = append(out, scalar(b[at:at+n]))
		at += n
	}
	return out
}

func scalar(b []byte) string {
	first := line(b)
	switch b[0] {
	case '$', '=', '!':
		if len(b) == first {
			return ""
		}
		b = b[first : len(b)-2]
	case '+', '-', ':', ',', '#', '(':
		b = b[1 : len(b)-2]
	default:
		return ""
	}
	return string(b[:min(len(b), wordLimit)])
}

package history

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/locktest/locktest/internal/flatjson"
)

// ErrFormat is wrapped by every error about what a history says, as opposed to reading it.
var ErrFormat = errors.New("not a history")

// AppendJSON appends op as one JSON object, without a newline. Zero fields are left out, index, t_ns and type are not.
func AppendJSON(b []byte, op *Op) []byte {
	b = append(b, `{"index":`...)
	b = strconv.AppendInt(b, int64(op.Index), 10)
	b = append(b, `,"t_ns":`...)
	b = strconv.AppendInt(b, int64(op.Time), 10)
	b = flatjson.AppendString(b, "client", op.Client)
	b = flatjson.AppendInt(b, "thread", int64(op.Thread))
	b = flatjson.AppendInt(b, "process", int64(op.Process))
	b = flatjson.AppendString(b, "type", string(op.Type))
	b = flatjson.AppendString(b, "f", string(op.F))
	b = flatjson.AppendString(b, "lock", op.Lock)
	b = flatjson.AppendString(b, "resource", op.Resource)
	b = flatjson.AppendInt(b, "grant", int64(op.Grant))
	b = flatjson.AppendString(b, "owner", op.Owner)
	b = flatjson.AppendString(b, "mode", op.Mode)
	b = flatjson.AppendInt(b, "permits", int64(op.Permits))
	b = flatjson.AppendInt(b, "ttl_ns", int64(op.TTL))
	b = flatjson.AppendUint(b, "token", op.Token)
	b = flatjson.AppendInt(b, "valid_until_ns", int64(op.Valid))
	b = flatjson.AppendString(b, "outcome", string(op.Outcome))
	b = flatjson.AppendInt(b, "value", op.Value)
	b = flatjson.AppendInt(b, "base", op.Base)
	if len(op.Data) > 0 {
		b = append(b, `,"data":`...)
		b = append(b, op.Data...)
	}
	b = flatjson.AppendString(b, "error", op.Error)
	b = flatjson.AppendInt(b, "fault", int64(op.Fault))
	if len(op.Targets) > 0 {
		b = append(b, `,"targets":[`...)
		for i, t := range op.Targets {
			if i > 0 {
				b = append(b, ',')
			}
			b = flatjson.AppendQuoted(b, t)
		}
		b = append(b, ']')
	}
	b = flatjson.AppendInt(b, "planned_ns", int64(op.Planned))
	b = flatjson.AppendString(b, "name", op.Name)
	b = flatjson.AppendInt(b, "offset_ns", int64(op.Offset))
	b = flatjson.AppendString(b, "text", op.Text)
	return append(b, '}')
}

// WriteJSONL writes h as one header line and one line an event.
func WriteJSONL(w io.Writer, h *History) error {
	head, err := json.Marshal(h.Header)
	if err != nil {
		return fmt.Errorf("header: %w", err)
	}
	bw := bufio.NewWriterSize(w, 1<<16)
	bw.Write(append(head, '\n'))
	var line []byte
	for i := range h.Ops {
		line = append(AppendJSON(line[:0], &h.Ops[i]), '\n')
		bw.Write(line)
	}
	return bw.Flush()
}

// LoadJSONL reads the history in the file at path.
func LoadJSONL(path string) (*History, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	h, err := ReadJSONL(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return h, nil
}

// maxLine bounds the memory that one line of a hostile file can take.
const maxLine = 16 << 20

// ReadJSONL reads a history. A last line that was cut off is left out and told in Truncated; every other line that is
// not well formed, out of order, or breaks the rule of one open operation a process is an error that names it.
func ReadJSONL(r io.Reader) (*History, error) { return readJSONL(r, lengthOf(r)) }

// lengthOf is how many bytes r has, as far as it says; 0: it doesn't.
func lengthOf(r io.Reader) int64 {
	switch x := r.(type) {
	case interface{ Len() int }:
		return int64(x.Len())
	case *os.File:
		if info, err := x.Stat(); err == nil && info.Mode().IsRegular() {
			return info.Size()
		}
	}
	return 0
}

// roomFor grows ops, which were read from the first bytes of length, to what the rest will need if its lines are as long.
func roomFor(ops []Op, bytes, length int64) []Op {
	const few = 1024 // before so many say how long lines are
	n := len(ops)
	if n < few || length <= bytes {
		return slices.Grow(ops, 1)
	}
	more := float64(n) * float64(length-bytes) / float64(bytes)
	return slices.Grow(ops, few+int(1.01*more))
}

func readJSONL(r io.Reader, length int64) (*History, error) {
	sc := bufio.NewScanner(r)
	sc.Buffer(make([]byte, 1<<16), maxLine)
	sc.Split(splitLines)
	if !sc.Scan() {
		if sc.Err() != nil {
			return nil, fmt.Errorf("line 1: %w", scanned(sc.Err()))
		}
		return nil, fmt.Errorf("line 1: %w: it is empty, expected a header line", ErrFormat)
	}
	h := &History{}
	if err := readHeader(sc.Bytes(), &h.Header); err != nil {
		return nil, fmt.Errorf("line 1: %w", err)
	}
	d := newDecoder()
	rules := newRules()
	n, read := 2, int64(len(sc.Bytes()))
	for ; sc.Scan(); n++ {
		line := sc.Bytes()
		read += int64(len(line))
		cut := len(line) == 0 || line[len(line)-1] != '\n'
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 && !cut {
			continue
		}
		if len(h.Ops) == cap(h.Ops) {
			h.Ops = roomFor(h.Ops, read, length)
		}
		h.Ops = append(h.Ops, Op{})
		op := &h.Ops[len(h.Ops)-1]
		err := d.decode(line, op)
		if err != nil && cut {
			h.Truncated = fmt.Sprintf("line %d was cut off after %d bytes", n, len(line))
			h.Ops = h.Ops[:len(h.Ops)-1]
			break
		}
		if err == nil {
			err = op.sense()
		}
		if err == nil {
			err = rules.check(op)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
	if err := sc.Err(); err != nil {
		return nil, fmt.Errorf("line %d: %w", n, scanned(err))
	}
	return h, nil
}

// scanned makes a line that is too long an error about what was read.
func scanned(err error) error {
	if errors.Is(err, bufio.ErrTooLong) {
		return fmt.Errorf("%w: it is longer than %d MiB", ErrFormat, maxLine>>20)
	}
	return err
}

// splitLines is bufio.ScanLines, but keeps the newline, so that a line that was cut off can be told.
func splitLines(data []byte, atEOF bool) (int, []byte, error) {
	if i := bytes.IndexByte(data, '\n'); i >= 0 {
		return i + 1, data[:i+1], nil
	}
	if atEOF && len(data) > 0 {
		return len(data), data, nil
	}
	return 0, nil, nil
}

func readHeader(line []byte, h *Header) error {
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(h); err != nil {
		if h.Schema != "" && h.Schema != Schema {
			return wrongSchema(h)
		}
		if quoted, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
			return fmt.Errorf("header: %w", unknownField(strings.Trim(quoted, `"`), fieldNames(reflect.TypeFor[Header]())))
		}
		return fmt.Errorf("%w: header: %v", ErrFormat, err)
	}
	if h.Schema != Schema {
		return wrongSchema(h)
	}
	if rest := bytes.TrimSpace(line[dec.InputOffset():]); len(rest) > 0 {
		return fmt.Errorf("%w: header: something follows the object: %.40q", ErrFormat, rest)
	}
	if err := h.sense(); err != nil {
		return fmt.Errorf("header: %w", err)
	}
	return nil
}

func wrongSchema(h *Header) error {
	return fmt.Errorf("%w: schema is %q, expected %q", ErrFormat, h.Schema, Schema)
}

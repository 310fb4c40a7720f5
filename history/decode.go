package history

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// decoder reads the flat objects that AppendJSON writes, some ten times faster than encoding/json and with the few
// distinct strings of a history kept once. Values that are not plain are handed to encoding/json.
type decoder struct {
	strings map[string]string
	b       []byte
	i       int
}

func (d *decoder) decode(line []byte, op *Op) error {
	d.b, d.i = line, 0
	if err := d.object(op); err != nil {
		return fmt.Errorf("%w: byte %d: %w", ErrFormat, d.i+1, err)
	}
	if op.Type == "" {
		return fmt.Errorf("%w: no type", ErrFormat)
	}
	if !known[op.Type] {
		return fmt.Errorf("%w: unknown type %q", ErrFormat, op.Type)
	}
	return nil
}

var known = map[Type]bool{Invoke: true, OK: true, Fail: true, Info: true, Lost: true, Renewed: true, Crash: true, FaultBegin: true,
	FaultEnd: true, FaultMissed: true, HostStall: true, ClockOffset: true, Observed: true, Phase: true}

func (d *decoder) object(op *Op) error {
	if err := d.expect('{'); err != nil {
		return err
	}
	if d.peek() == '}' {
		d.i++
		return d.end()
	}
	for {
		key, err := d.string()
		if err != nil {
			return err
		}
		if err := d.expect(':'); err != nil {
			return err
		}
		if err := d.field(op, key); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		switch d.peek() {
		case ',':
			d.i++
		case '}':
			d.i++
			return d.end()
		default:
			return fmt.Errorf("expected , or }")
		}
	}
}

func (d *decoder) field(op *Op, key string) (err error) {
	switch key {
	case "index":
		return d.int(&op.Index)
	case "t_ns":
		return d.duration(&op.Time)
	case "client":
		op.Client, err = d.string()
	case "thread":
		return d.int(&op.Thread)
	case "process":
		return d.int(&op.Process)
	case "type":
		return stringAs(d, &op.Type)
	case "f":
		return stringAs(d, &op.F)
	case "lock":
		op.Lock, err = d.string()
	case "resource":
		op.Resource, err = d.string()
	case "grant":
		return d.int(&op.Grant)
	case "owner":
		op.Owner, err = d.string()
	case "mode":
		op.Mode, err = d.string()
	case "permits":
		return d.int(&op.Permits)
	case "ttl_ns":
		return d.duration(&op.TTL)
	case "token":
		op.Token, err = strconv.ParseUint(string(d.number()), 10, 64)
	case "valid_until_ns":
		return d.duration(&op.Valid)
	case "outcome":
		return stringAs(d, &op.Outcome)
	case "value":
		op.Value, err = d.int64()
	case "base":
		op.Base, err = d.int64()
	case "data":
		op.Data, err = d.raw()
	case "error":
		op.Error, err = d.string()
	default:
		return d.eventField(op, key)
	}
	return err
}

// eventField reads what only single events have.
func (d *decoder) eventField(op *Op, key string) (err error) {
	switch key {
	case "fault":
		return d.int(&op.Fault)
	case "targets":
		var raw json.RawMessage
		if raw, err = d.raw(); err == nil {
			err = json.Unmarshal(raw, &op.Targets)
		}
	case "planned_ns":
		return d.duration(&op.Planned)
	case "name":
		op.Name, err = d.string()
	case "offset_ns":
		return d.duration(&op.Offset)
	case "text":
		op.Text, err = d.string()
	default:
		return fmt.Errorf("unknown field")
	}
	return err
}

func stringAs[T ~string](d *decoder, to *T) error {
	s, err := d.string()
	*to = T(s)
	return err
}

func (d *decoder) int(to *int) error {
	v, err := d.int64()
	*to = int(v)
	return err
}

func (d *decoder) duration(to *time.Duration) error {
	v, err := d.int64()
	*to = time.Duration(v)
	return err
}

func (d *decoder) int64() (int64, error) { return strconv.ParseInt(string(d.number()), 10, 64) }

func (d *decoder) number() []byte {
	d.space()
	from := d.i
	for d.i < len(d.b) && (d.b[d.i] == '-' || d.b[d.i] >= '0' && d.b[d.i] <= '9') {
		d.i++
	}
	return d.b[from:d.i]
}

func (d *decoder) string() (string, error) {
	if err := d.expect('"'); err != nil {
		return "", err
	}
	from := d.i
	for d.i < len(d.b) && d.b[d.i] != '"' {
		if c := d.b[d.i]; c == '\\' || c < ' ' || c >= 0x80 {
			return d.escaped(from - 1)
		}
		d.i++
	}
	if d.i == len(d.b) {
		return "", fmt.Errorf("string without end")
	}
	s := d.b[from:d.i]
	d.i++
	return d.intern(s), nil
}

// escaped reads a string that has escapes or is not ASCII; from is the place of its opening quote.
func (d *decoder) escaped(from int) (string, error) {
	end := d.stringEnd(from)
	if end < 0 {
		return "", fmt.Errorf("string without end")
	}
	var s string
	if err := json.Unmarshal(d.b[from:end], &s); err != nil {
		return "", err
	}
	d.i = end
	return d.intern([]byte(s)), nil
}

// stringEnd returns the place after the string that opens at from, or -1.
func (d *decoder) stringEnd(from int) int {
	for i := from + 1; i < len(d.b); i++ {
		switch d.b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return -1
}

// raw reads any JSON value and returns a copy of it.
func (d *decoder) raw() (json.RawMessage, error) {
	d.space()
	from, depth := d.i, 0
	for d.i < len(d.b) {
		switch d.b[d.i] {
		case '"':
			end := d.stringEnd(d.i)
			if end < 0 {
				return nil, fmt.Errorf("string without end")
			}
			d.i = end - 1
		case '{', '[':
			depth++
		case '}', ']', ',':
			if depth == 0 {
				return d.valid(from)
			}
			if d.b[d.i] != ',' {
				depth--
			}
		}
		d.i++
	}
	return nil, fmt.Errorf("value without end")
}

func (d *decoder) valid(from int) (json.RawMessage, error) {
	v := json.RawMessage(slices.Clone(d.b[from:d.i]))
	if !json.Valid(v) {
		return nil, fmt.Errorf("not a JSON value: %.40q", v)
	}
	return v, nil
}

func (d *decoder) intern(s []byte) string {
	if v, ok := d.strings[string(s)]; ok {
		return v
	}
	v := string(s)
	if len(d.strings) < 1<<16 && len(v) < 256 { // owners are unique in a run: keep the table small
		d.strings[v] = v
	}
	return v
}

func (d *decoder) space() {
	for d.i < len(d.b) && (d.b[d.i] == ' ' || d.b[d.i] == '\t') {
		d.i++
	}
}

func (d *decoder) peek() byte {
	d.space()
	if d.i == len(d.b) {
		return 0
	}
	return d.b[d.i]
}

func (d *decoder) expect(c byte) error {
	if d.peek() != c {
		return fmt.Errorf("expected %q", c)
	}
	d.i++
	return nil
}

func (d *decoder) end() error {
	if d.space(); d.i != len(d.b) {
		return fmt.Errorf("something follows the object")
	}
	return nil
}

// Package flatjson reads JSON objects whose values are plain: strings, whole numbers, and now and then something else. It is
// some ten times faster than encoding/json, which it asks for what isn't plain, and keeps the few distinct strings of a
// stream once. It knows no object.
package flatjson

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// Scanner reads one object after another. The zero Scanner is ready. It is for one goroutine.
type Scanner struct {
	strings map[string]string
	keys    []string // of the object before this one, by their places
	b       []byte
	i       int
}

// Object reads line, which has to be one object, and calls field for each key. field has to read exactly one value.
func (s *Scanner) Object(line []byte, field func(key string) error) error {
	s.b, s.i = line, 0
	if err := s.object(field); err != nil {
		return fmt.Errorf("byte %d: %w", s.i+1, err)
	}
	return nil
}

func (s *Scanner) object(field func(key string) error) error {
	if err := s.expect('{'); err != nil {
		return err
	}
	if s.peek() == '}' {
		s.i++
		return s.end()
	}
	for place := 0; ; place++ {
		key, err := s.key(place)
		if err != nil {
			return err
		}
		if err := s.expect(':'); err != nil {
			return err
		}
		if err := field(key); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		switch s.peek() {
		case ',':
			s.i++
		case '}':
			s.i++
			return s.end()
		default:
			return errors.New("expected , or }")
		}
	}
}

// key reads the key at a place. Most objects of a stream have the keys that the one before had, in the same order.
func (s *Scanner) key(place int) (string, error) {
	s.space()
	if place < len(s.keys) {
		k, rest := s.keys[place], s.b[s.i:]
		if n := len(k); len(rest) > n+1 && rest[0] == '"' && rest[n+1] == '"' && string(rest[1:n+1]) == k {
			s.i += n + 2
			return k, nil
		}
	}
	from := s.i
	key, err := s.String()
	switch {
	case err != nil || s.i-from != len(key)+2: // or it was written with escapes
	case place < len(s.keys):
		s.keys[place] = key
	case place == len(s.keys) && place < mostKeys:
		s.keys = append(s.keys, key)
	}
	return key, err
}

// mostKeys bounds the keys that are remembered.
const mostKeys = 64

// StringAs reads a string of another type.
func StringAs[T ~string](s *Scanner, to *T) error {
	v, err := s.String()
	*to = T(v)
	return err
}

// Int reads a whole number.
func (s *Scanner) Int(to *int) error {
	v, err := s.Int64()
	*to = int(v)
	return err
}

// Duration reads a whole number of nanoseconds.
func (s *Scanner) Duration(to *time.Duration) error {
	v, err := s.Int64()
	*to = time.Duration(v)
	return err
}

// Int64 reads a whole number.
func (s *Scanner) Int64() (int64, error) { return strconv.ParseInt(string(s.number()), 10, 64) }

// Uint64 reads a whole number that isn't negative.
func (s *Scanner) Uint64() (uint64, error) { return strconv.ParseUint(string(s.number()), 10, 64) }

func (s *Scanner) number() []byte {
	s.space()
	from := s.i
	for s.i < len(s.b) && (s.b[s.i] == '-' || s.b[s.i] >= '0' && s.b[s.i] <= '9') {
		s.i++
	}
	return s.b[from:s.i]
}

// String reads a string.
func (s *Scanner) String() (string, error) {
	if err := s.expect('"'); err != nil {
		return "", err
	}
	from := s.i
	for s.i < len(s.b) && s.b[s.i] != '"' {
		if c := s.b[s.i]; c == '\\' || c < ' ' || c >= 0x80 {
			return s.escaped(from - 1)
		}
		s.i++
	}
	if s.i == len(s.b) {
		return "", errEndless
	}
	v := s.b[from:s.i]
	s.i++
	return s.intern(v), nil
}

var errEndless = errors.New("string without end")

// escaped reads a string that has escapes or is not ASCII; from is the place of its opening quote.
func (s *Scanner) escaped(from int) (string, error) {
	end := s.stringEnd(from)
	if end < 0 {
		return "", errEndless
	}
	var v string
	if err := json.Unmarshal(s.b[from:end], &v); err != nil {
		return "", err
	}
	s.i = end
	return s.intern([]byte(v)), nil
}

// stringEnd returns the place after the string that opens at from, or -1.
func (s *Scanner) stringEnd(from int) int {
	for i := from + 1; i < len(s.b); i++ {
		switch s.b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return -1
}

// Raw reads any value and returns a copy of it.
func (s *Scanner) Raw() (json.RawMessage, error) {
	s.space()
	from, depth := s.i, 0
	for s.i < len(s.b) {
		switch s.b[s.i] {
		case '"':
			end := s.stringEnd(s.i)
			if end < 0 {
				return nil, errEndless
			}
			s.i = end - 1
		case '{', '[':
			depth++
		case '}', ']', ',':
			if depth == 0 {
				return s.valid(from)
			}
			if s.b[s.i] != ',' {
				depth--
			}
		}
		s.i++
	}
	return nil, errors.New("value without end")
}

func (s *Scanner) valid(from int) (json.RawMessage, error) {
	v := json.RawMessage(slices.Clone(s.b[from:s.i]))
	if !json.Valid(v) {
		return nil, fmt.Errorf("not a JSON value: %.40q", v)
	}
	return v, nil
}

// Limits of the table of strings: owner values are unique, and would only fill it.
const (
	mostStrings  = 1 << 16
	longestShare = 256
)

func (s *Scanner) intern(b []byte) string {
	if v, ok := s.strings[string(b)]; ok {
		return v
	}
	v := string(b)
	if s.strings == nil {
		s.strings = map[string]string{}
	}
	if len(s.strings) < mostStrings && len(v) < longestShare {
		s.strings[v] = v
	}
	return v
}

func (s *Scanner) space() {
	for s.i < len(s.b) && (s.b[s.i] == ' ' || s.b[s.i] == '\t') {
		s.i++
	}
}

func (s *Scanner) peek() byte {
	s.space()
	if s.i == len(s.b) {
		return 0
	}
	return s.b[s.i]
}

func (s *Scanner) expect(c byte) error {
	if s.peek() != c {
		return fmt.Errorf("expected %q", c)
	}
	s.i++
	return nil
}

func (s *Scanner) end() error {
	if s.space(); s.i != len(s.b) {
		return errors.New("something follows the object")
	}
	return nil
}

// AppendString appends ,"key":"value" to an object that has something in it already, and nothing for an empty value.
func AppendString(b []byte, key, value string) []byte {
	if value == "" {
		return b
	}
	return AppendQuoted(appendKey(b, key), value)
}

// AppendInt appends ,"key":value, and nothing for zero.
func AppendInt(b []byte, key string, value int64) []byte {
	if value == 0 {
		return b
	}
	return strconv.AppendInt(appendKey(b, key), value, 10)
}

// AppendUint appends ,"key":value, and nothing for zero.
func AppendUint(b []byte, key string, value uint64) []byte {
	if value == 0 {
		return b
	}
	return strconv.AppendUint(appendKey(b, key), value, 10)
}

func appendKey(b []byte, key string) []byte {
	return append(append(append(b, `,"`...), key...), `":`...)
}

// AppendQuoted appends a JSON string. Bytes that are no UTF-8 become U+FFFD.
func AppendQuoted(b []byte, v string) []byte {
	for i := 0; i < len(v); i++ {
		if c := v[i]; c < ' ' || c == '"' || c == '\\' || c >= 0x80 {
			q, err := json.Marshal(v)
			if err != nil {
				panic(fmt.Sprintf("flatjson: %v", err)) // a string always marshals
			}
			return append(b, q...)
		}
	}
	return append(append(append(b, '"'), v...), '"')
}

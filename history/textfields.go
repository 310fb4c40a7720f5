package history

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// textKind is an operation with its answer, as one word of the text form.
type textKind struct {
	f       F
	mode    string
	typ     Type
	outcome Outcome
}

func textKinds() map[string]textKind {
	return map[string]textKind{
		"A":  {f: Acquire, typ: OK},
		"rA": {f: Acquire, mode: Shared, typ: OK},
		"L":  {f: Acquire, typ: OK, outcome: Late},
		"B":  {f: Acquire, typ: Fail, outcome: Busy},
		"F":  {f: Acquire, typ: Fail},
		"E":  {f: Extend, typ: OK},
		"X":  {f: Extend, typ: Fail, outcome: NotHeld},
		"R":  {f: Release, typ: OK},
		"N":  {f: Release, typ: Fail, outcome: NotHeld},
		"G":  {f: Release, typ: OK, outcome: Gone},
		"D":  {f: Read, typ: OK},
		"K":  {f: Read, typ: Fail, outcome: Rejected},
		"W":  {f: Write, typ: OK},
		"J":  {f: Write, typ: Fail, outcome: Rejected},
	}
}

// attributes reads name=value pairs, joined by commas.
func (p *textParser) attributes(op *Op, s string) error {
	if s == "" {
		return nil
	}
	for _, a := range strings.Split(s, ",") {
		name, value, _ := strings.Cut(a, "=")
		set, ok := p.setters[name]
		if !ok {
			return fmt.Errorf("no attribute is called %q", name)
		}
		if err := set(op, value); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// attributeSetters reads the value of each attribute into an event.
func attributeSetters() map[string]func(*Op, string) error {
	return map[string]func(*Op, string) error{
		"lock":    func(o *Op, s string) error { o.Lock = s; return nil },
		"own":     func(o *Op, s string) error { o.Owner = s; return nil },
		"mode":    func(o *Op, s string) error { o.Mode = s; return nil },
		"on":      func(o *Op, s string) error { o.Resource = s; return nil },
		"kind":    func(o *Op, s string) error { o.F = F(s); return nil },
		"text":    func(o *Op, s string) error { o.Text = s; return nil },
		"error":   func(o *Op, s string) error { o.Error = s; return nil },
		"targets": func(o *Op, s string) error { o.Targets = strings.Split(s, "+"); return nil },
		"grant":   func(o *Op, s string) error { return textInt(&o.Grant, s) },
		"permits": func(o *Op, s string) error { return textInt(&o.Permits, s) },
		"tok":     func(o *Op, s string) (err error) { o.Token, err = strconv.ParseUint(s, 10, 64); return err },
		"v":       func(o *Op, s string) (err error) { o.Value, err = strconv.ParseInt(s, 10, 64); return err },
		"base":    func(o *Op, s string) (err error) { o.Base, err = strconv.ParseInt(s, 10, 64); return err },
		"ttl":     func(o *Op, s string) (err error) { o.TTL, err = textTime(s); return err },
		"late":    func(o *Op, s string) (err error) { o.TTL, err = textTime(s); return err },
		"valid":   func(o *Op, s string) (err error) { o.Valid, err = textTime(s); return err },
		"n":       func(o *Op, s string) error { return textData(o, `{"n":%d}`, s) },
		"job":     func(o *Op, s string) error { return textData(o, `{"job":%d}`, s) },
		"done":    func(o *Op, s string) error { return textData(o, `{"job":%d,"done":true}`, s) },
	}
}

func textData(o *Op, form, s string) error {
	n, err := strconv.ParseInt(s, 10, 64)
	o.Data = json.RawMessage(fmt.Sprintf(form, n))
	return err
}

func textInt(to *int, s string) (err error) {
	*to, err = strconv.Atoi(s)
	if err == nil && *to < 1 {
		return fmt.Errorf("%d: it counts from 1", *to)
	}
	return err
}

// textTime reads a bare number as milliseconds.
func textTime(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if n, bare := strconv.ParseFloat(s, 64); bare == nil {
		d, err = time.Duration(n*float64(time.Millisecond)), nil
	}
	switch {
	case err != nil:
		return 0, fmt.Errorf("%q is no time: write 10 (milliseconds) or 1.5s", s)
	case d < 0 || d > 1<<53:
		return 0, fmt.Errorf("%q is out of range", s)
	}
	return d, nil
}

// textWho reads c1 or c1/2.
func textWho(s string) (client string, thread int, err error) {
	client, number, threaded := strings.Cut(s, "/")
	if threaded {
		err = textInt(&thread, number)
	}
	return client, thread, err
}

package history

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/locktest/locktest/internal/flatjson"
)

// decoder reads the objects that AppendJSON writes.
type decoder struct {
	flatjson.Scanner
	op   *Op
	read func(key string) error // fresh, made once
	seen []string               // keys of this object
	bits uint64                 // a bit for each of them
}

func newDecoder() *decoder {
	d := &decoder{}
	d.read = d.fresh
	return d
}

func (d *decoder) decode(line []byte, op *Op) error {
	d.op, d.seen, d.bits = op, d.seen[:0], 0
	if err := d.Object(line, d.read); err != nil {
		return fmt.Errorf("%w: %w", ErrFormat, err)
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

// fresh refuses a key that came before. Which bit a key has is a guess that only saves comparing it with the others.
func (d *decoder) fresh(key string) error {
	bit := uint64(1)
	if n := len(key); n > 0 {
		bit <<= (uint(n)*7 + uint(key[0])*31 + uint(key[n-1])) % 64
	}
	if d.bits&bit != 0 && slices.Contains(d.seen, key) {
		return errors.New("it is there twice")
	}
	d.bits |= bit
	d.seen = append(d.seen, key)
	return d.field(key)
}

func (d *decoder) field(key string) (err error) {
	op := d.op
	switch key {
	case "index":
		return d.Int(&op.Index)
	case "t_ns":
		return d.Duration(&op.Time)
	case "client":
		op.Client, err = d.String()
	case "thread":
		return d.Int(&op.Thread)
	case "process":
		return d.Int(&op.Process)
	case "type":
		return flatjson.StringAs(&d.Scanner, &op.Type)
	case "f":
		return flatjson.StringAs(&d.Scanner, &op.F)
	case "lock":
		op.Lock, err = d.String()
	case "resource":
		op.Resource, err = d.String()
	case "grant":
		return d.Int(&op.Grant)
	case "owner":
		op.Owner, err = d.String()
	case "mode":
		op.Mode, err = d.String()
	case "permits":
		return d.Int(&op.Permits)
	case "ttl_ns":
		return d.Duration(&op.TTL)
	case "token":
		op.Token, err = d.Uint64()
	case "valid_until_ns":
		return d.Duration(&op.Valid)
	case "outcome":
		return flatjson.StringAs(&d.Scanner, &op.Outcome)
	case "value":
		op.Value, err = d.Int64()
	case "base":
		op.Base, err = d.Int64()
	case "data":
		op.Data, err = d.Raw()
	case "error":
		op.Error, err = d.String()
	default:
		return d.eventField(key)
	}
	return err
}

// eventField reads what only single events have.
func (d *decoder) eventField(key string) (err error) {
	op := d.op
	switch key {
	case "fault":
		return d.Int(&op.Fault)
	case "targets":
		var raw json.RawMessage
		if raw, err = d.Raw(); err == nil {
			err = json.Unmarshal(raw, &op.Targets)
		}
	case "planned_ns":
		return d.Duration(&op.Planned)
	case "name":
		op.Name, err = d.String()
	case "offset_ns":
		return d.Duration(&op.Offset)
	case "text":
		op.Text, err = d.String()
	default:
		return errors.New("unknown field")
	}
	return err
}

package history

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// atlasRecord is one record of AtlasDB's Jepsen tests. lock and refresh answer with a token, or with nothing where they
// were refused; unlock with whether the lock was still held. Some files say success and failure instead.
type atlasRecord struct {
	Type    string          `json:"type"`
	F       string          `json:"f"`
	Process json.RawMessage `json:"process"`
	Time    int64           `json:"time"`
	Value   json.RawMessage `json:"value"`
	Result  string          `json:"result"`
}

// ReadAtlasDB reads a JSON array of records. Reads of its timestamp oracle become grants of a lock "timestamps" whose
// tokens they are.
func ReadAtlasDB(r io.Reader, c Contract) (*History, error) {
	b, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	var records []atlasRecord
	d := json.NewDecoder(bytes.NewReader(b))
	if err := d.Decode(&records); err != nil {
		at := d.InputOffset()
		if errors.Is(err, io.ErrUnexpectedEOF) {
			at = int64(len(b))
		}
		return nil, fmt.Errorf("byte %d: %w: %w", at, ErrFormat, err)
	}
	if rest := bytes.TrimSpace(b[d.InputOffset():]); len(rest) > 0 {
		return nil, fmt.Errorf("byte %d: %w: something follows the array: %.40q: expected one array of records", bytes.LastIndex(b, rest), ErrFormat, rest)
	}
	f := newForeign(c)
	for i := range records {
		if err := f.atlas(&records[i], fmt.Sprintf("record %d", i)); err != nil {
			return nil, err
		}
	}
	return f.history()
}

func (f *foreign) atlas(x *atlasRecord, place string) error {
	client := "p" + text(x.Process)
	at := time.Duration(x.Time)
	kind, known := map[string]F{"lock": Acquire, "refresh": Extend, "unlock": Release, "read-operation": Acquire}[x.F]
	switch {
	case client == "pnemesis":
		return nil
	case !known:
		return fmt.Errorf("%s: %w: %q is no operation: want lock, refresh, unlock or read-operation", place, ErrFormat, x.F)
	case x.Type == "invoke":
		name := text(x.Value)
		if x.F == "read-operation" {
			name = "timestamps"
		}
		return f.invoke(Op{Time: at, Client: client, F: kind, Lock: f.lock(name)}, place)
	case x.Type == "info":
		return f.answered(client, place, at, Info, nil)
	case x.Type == "fail":
		return f.answered(client, place, at, Fail, nil)
	case x.Type != "ok":
		return fmt.Errorf("%s: %w: %q is no type of record", place, ErrFormat, x.Type)
	case x.F == "read-operation":
		return f.answered(client, place, at, OK, func(o *Op) { _ = json.Unmarshal(x.Value, &o.Token) })
	}
	if x.granted() {
		return f.answered(client, place, at, OK, nil)
	}
	refusal := NotHeld
	if kind == Acquire {
		refusal = Busy
	}
	return f.answered(client, place, at, Fail, func(o *Op) { o.Outcome = refusal })
}

func (x *atlasRecord) granted() bool {
	switch x.Result {
	case "success":
		return true
	case "failure":
		return false
	}
	v := text(x.Value)
	return v != "" && v != "false"
}

// text is a JSON string's text, or another value as it stands.
func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

package history

import (
	"encoding/json"
	"testing"
)

func TestAsked(t *testing.T) {
	for data, ok := range map[string]bool{
		`{"answered":2,"nodes":3,"asked":1,"locks":1}`:  true,
		`{"answered":0,"nodes":0,"asked":0,"locks":0}`:  true,
		`{"answered":4,"nodes":3,"asked":1,"locks":1}`:  false,
		`{"answered":-1,"nodes":3,"asked":1,"locks":1}`: false,
		`{"answered":1,"nodes":3,"asked":2,"locks":1}`:  false,
		`7`: false,
		``:  false,
	} {
		op := Op{Type: Observed, Data: json.RawMessage(data)}
		if _, got := op.Asked(); got != ok {
			t.Errorf("%s: %v, want %v", data, got, ok)
		}
		op.Name = "a key"
		if _, got := op.Asked(); got {
			t.Errorf("a key that was found passes for %s", data)
		}
	}
}

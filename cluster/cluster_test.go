package cluster_test

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/locktest/locktest/cluster"
)

func TestCheckOptions(t *testing.T) {
	s := cluster.Service{Name: "store", Options: map[string][]string{"persistence": {"none", "disk"}, "mode": {"fast"}}}
	plain := cluster.Service{Name: "plain"}
	tests := []struct {
		name    string
		service cluster.Service
		options map[string]string
		want    string // empty: no error
	}{
		{"none", s, nil, ""},
		{"all known", s, map[string]string{"persistence": "disk", "mode": "fast"}, ""},
		{"unknown name", s, map[string]string{"persistance": "disk"}, `store has no option "persistance", only mode, persistence`},
		{"unknown value", s, map[string]string{"persistence": "paper"}, `store: option persistence is "paper", want none, disk`},
		{"a service without options", plain, map[string]string{"x": "y"}, `plain has no option "x", only none`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := tt.service.CheckOptions(tt.options)
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || err.Error() != tt.want) {
				t.Errorf("CheckOptions() = %v, want %q", err, tt.want)
			}
		})
	}
}

func TestErrorWrapsItsCause(t *testing.T) {
	err := error(&cluster.Error{Code: cluster.CodeNoBinary, Message: "it was not found", Err: fs.ErrNotExist})
	if !errors.Is(err, fs.ErrNotExist) || !strings.HasPrefix(err.Error(), "it was not found: ") {
		t.Errorf("%v", err)
	}
	if got := (&cluster.Error{Message: "alone"}).Error(); got != "alone" {
		t.Errorf("without a cause: %q", got)
	}
}

func TestModes(t *testing.T) {
	for mode, want := range map[cluster.Mode]string{cluster.Pass: "pass", cluster.Hold: "hold", cluster.Drop: "drop", cluster.Refuse: "refuse"} {
		if got := mode.String(); got != want {
			t.Errorf("Mode(%d) is %q, want %q", mode, got, want)
		}
	}
	if (cluster.Condition{}).Mode != cluster.Pass {
		t.Error("the zero condition isn't a healthy link")
	}
}

package nemesis_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/locktest/locktest/nemesis"
)

func TestStallNeedsADisk(t *testing.T) {
	b := newBench(t, nil)
	if err := nemesis.NewStall(target("n1")).Check(b.env); err == nil || !strings.Contains(err.Error(), "no disk of its own") {
		t.Errorf("Check() = %v", err)
	}
	if _, err := nemesis.NewStall(target("n1")).Inject(b.ctx, b.env); err == nil || errors.Is(err, nemesis.ErrNoTarget) {
		t.Errorf("Inject() = %v", err)
	}
}

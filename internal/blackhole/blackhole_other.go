//go:build !linux

package blackhole

import (
	"context"
	"errors"
)

var errUnsupported = errors.New("packets can be dropped on Linux alone")

// Hole is a set of flows that vanish.
type Hole struct{}

// Supported says what this machine lacks.
func Supported() error { return errUnsupported }

// Open makes no hole here.
func Open(context.Context) (*Hole, error) { return nil, errUnsupported }

// Drop drops nothing here.
func (*Hole) Drop(context.Context, ...Flow) error { return errUnsupported }

// Close has nothing to let through.
func (*Hole) Close(context.Context) error { return nil }

// Clean finds nothing.
func Clean(context.Context) ([]string, error) { return nil, nil }

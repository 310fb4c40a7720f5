//go:build !linux

package disk

import (
	"context"
	"errors"
)

var errUnsupported = errors.New("disks can be frozen on Linux only")

// Supported says that this platform can't.
func Supported() error { return errUnsupported }

// Make always fails.
func Make(context.Context, string) error { return errUnsupported }

// Freeze always fails.
func Freeze(string) error { return errUnsupported }

// Thaw always fails.
func Thaw(string) error { return errUnsupported }

// Mounted is always false.
func Mounted(string) (bool, error) { return false, nil }

// Under is always empty.
func Under(string) ([]string, error) { return nil, nil }

// Remove has nothing to do.
func Remove(string) error { return nil }

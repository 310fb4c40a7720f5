//go:build !(linux && amd64)

package vclock

import "context"

// Clock is never made here.
type Clock struct{}

// Supported answers ErrUnsupported.
func Supported() error { return ErrUnsupported }

// Attach answers ErrUnsupported.
func Attach(context.Context, int) (*Clock, error) { return nil, ErrUnsupported }

// Set answers ErrUnsupported.
func (*Clock) Set(Offset) error { return ErrUnsupported }

// Now is zero.
func (*Clock) Now() Offset { return Offset{} }

// Close does nothing.
func (*Clock) Close() error { return nil }

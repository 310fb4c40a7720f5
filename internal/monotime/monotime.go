// Package monotime reads the system's monotonic clock by the plain system call, past every shortcut that a clock fault can
// bend. It knows no run and no zero but the system's own.
package monotime

import "time"

// Now is the time since a zero of the system's own: for differences, not for dates. Processes on one machine can compare
// their values on Linux (CLOCK_MONOTONIC, by the system call and not through the vDSO, so that a fault that patches the vDSO
// doesn't reach it) and on macOS (CLOCK_MONOTONIC_RAW). Elsewhere it counts from the start of this process.
func Now() time.Duration { return now() }

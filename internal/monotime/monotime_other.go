//go:build !linux && !darwin

package monotime

import "time"

// begin is read once and never written again.
var begin = time.Now()

func now() time.Duration { return time.Since(begin) }

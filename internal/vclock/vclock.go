// Package vclock shifts the clocks that one running process reads, and nobody else's, by patching that process's private
// copy of the vDSO: the page of code through which programs ask the kernel for the time. It needs no ptrace and nothing
// in the program. It knows no server and no fault.
//
// What reads the time through the vDSO is shifted: Go programs, the JVM, PostgreSQL, Redis, Python. Plain system calls and the
// kernel's own timers (sleep, epoll, timerfd) stay real.
package vclock

import (
	"errors"
	"time"
)

// ErrUnsupported says that this platform, or this kernel, can't do it.
var ErrUnsupported = errors.New("clocks of single processes can't be shifted here: it takes linux/amd64, and a kernel that lets /proc/PID/mem be written")

// Offset is what is added to the clocks that a process reads.
type Offset struct {
	Wall      time.Duration // CLOCK_REALTIME, gettimeofday, time
	Monotonic time.Duration // CLOCK_MONOTONIC, CLOCK_MONOTONIC_RAW, CLOCK_BOOTTIME: may only grow
}

package monotime

import (
	"fmt"
	"syscall"
	"time"
	"unsafe"
)

const clockMonotonic = 1

func now() time.Duration {
	var ts syscall.Timespec
	_, _, errno := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clockMonotonic, uintptr(unsafe.Pointer(&ts)), 0)
	if errno != 0 {
		panic(fmt.Sprintf("clock_gettime(CLOCK_MONOTONIC): %v", errno))
	}
	return time.Duration(ts.Nano())
}

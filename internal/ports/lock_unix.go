//go:build unix

package ports

import (
	"os"
	"syscall"
)

func lock(f *os.File) bool {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}

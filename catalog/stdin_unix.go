//go:build unix

package catalog

import (
	"os"
	"syscall"
)

// stdin returns standard input such that a wait for it costs no thread, where it is a pipe. On a terminal it is left alone:
// others share its mode.
func stdin() *os.File {
	info, err := os.Stdin.Stat()
	if err != nil || info.Mode()&os.ModeNamedPipe == 0 || syscall.SetNonblock(0, true) != nil {
		return os.Stdin
	}
	return os.NewFile(0, "stdin")
}

//go:build !unix

package proc

import (
	"os"
	"syscall"
)

const (
	supported = false
	sigStop   = syscall.Signal(0)
	sigCont   = syscall.Signal(0)
	sigKill   = syscall.SIGKILL
)

func childAttr() *syscall.SysProcAttr                 { return nil }
func apartAttr() *syscall.SysProcAttr                 { return nil }
func runAs(*syscall.SysProcAttr, *User)               {}
func awaitExit(int)                                   {}
func killGroup(int)                                   {}
func send(int, syscall.Signal) error                  { return ErrUnsupported }
func snapshot() ([]entry, error)                      { return nil, ErrUnsupported }
func startOf(int) string                              { return "" }
func stopped(int, bool) bool                          { return false }
func anyStopped(int) bool                             { return false }
func marked(int, string) bool                         { return false }
func treeListens(identity, int) (listens, known bool) { return false, false }

// Owner doesn't know on this platform.
func Owner(int) string { return "" }

func stopThreads(int) error { return ErrUnsupported }

// Neither environments nor folders of other processes are read here.
func variable(int, string) string { return "" }
func folderOf(int) string         { return "" }
func commandOf(int) string        { return "" }

func machine() string {
	name, err := os.Hostname()
	if err != nil {
		return ""
	}
	return name
}

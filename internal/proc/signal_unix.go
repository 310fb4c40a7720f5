//go:build unix

package proc

import (
	"errors"
	"syscall"
)

const (
	supported = true
	sigStop   = syscall.SIGSTOP
	sigCont   = syscall.SIGCONT
	sigKill   = syscall.SIGKILL
)

// apartAttr puts the supervisor into a session of its own, so that nothing sent to the harness's group or terminal
// reaches it.
func apartAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// runAs makes a child another user's. The kernel clears a death signal when a program changes its user, but Go sets the
// signal after the change.
func runAs(a *syscall.SysProcAttr, u *User) {
	if u != nil {
		a.Credential = &syscall.Credential{Uid: u.UID, Gid: u.GID}
	}
}

func send(pid int, sig syscall.Signal) error {
	if pid <= 1 {
		panic("proc: a signal to process 1 or to a group")
	}
	if err := syscall.Kill(pid, sig); err != nil && !errors.Is(err, syscall.ESRCH) {
		return err
	}
	return nil
}

func killGroup(leader int) {
	if leader > 1 {
		syscall.Kill(-leader, syscall.SIGKILL) // no such group: nothing is left of it
	}
}

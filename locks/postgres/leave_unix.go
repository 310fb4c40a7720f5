//go:build linux || darwin

package postgres

import (
	"errors"

	"golang.org/x/sys/unix"
)

// removeShared removes a block of System V shared memory. One that is gone is no error.
func removeShared(id int) error {
	_, err := unix.SysvShmCtl(id, unix.IPC_RMID, nil)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.EIDRM) {
		return nil
	}
	return err
}

package postgres

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// leave undoes what a server that was killed couldn't: it removes its block of System V shared memory, which outlives
// processes, and the file that says so. The server must be dead.
func leave(dir string) error {
	path := filepath.Join(dataDir(dir), "postmaster.pid")
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if id, ok := sharedMemory(string(b)); ok {
		if err := removeShared(id); err != nil {
			return fmt.Errorf("remove the shared memory %d of a dead server: %w", id, err)
		}
	}
	return os.Remove(path)
}

// sharedMemory reads the number from postmaster.pid, whose seventh line has a key and it.
func sharedMemory(text string) (id int, ok bool) {
	lines := strings.Split(text, "\n")
	if len(lines) < 7 {
		return 0, false
	}
	f := strings.Fields(lines[6])
	if len(f) != 2 {
		return 0, false
	}
	id, err := strconv.Atoi(f[1])
	return id, err == nil
}

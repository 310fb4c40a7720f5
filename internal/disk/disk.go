// Package disk gives a folder a file system of its own, which can be frozen: what writes to it then waits in the kernel, and
// nothing else on the machine notices. It knows no node and no process.
//
// A process that waits for a frozen disk can't die before it is thawed, and a file system has to be thawed before it is
// unmounted. Linux, as root.
package disk

import (
	"path/filepath"
	"strings"
)

// Size is how large a disk is; its file takes only what is written.
const Size = 1 << 30

// imageSuffix ends the name of the file that holds a disk: NAME.img for the folder NAME beside it.
const imageSuffix = ".img"

// Image is the file that holds the disk of a folder.
func Image(dir string) string { return strings.TrimRight(dir, "/") + imageSuffix }

// checkPath wants a whole path that needs no quoting where the system lists what is mounted.
func checkPath(dir string) bool {
	return filepath.IsAbs(dir) && filepath.Clean(dir) == dir && !strings.ContainsAny(dir, " \t\n\r\\")
}

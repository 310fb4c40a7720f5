// Package etcdd is a whole etcd server inside this program, for starts of the program by itself: as a process of its own it
// can be killed and stopped as any other server. It knows no cluster; its arguments are those of the command etcd.
package etcdd

import (
	"runtime/debug"
	"strings"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

// Main is etcd's main function. It returns only if the server ends without an error; on an error it ends the process.
func Main(args []string) { etcdmain.Main(append([]string{"etcd"}, args...)) }

// module is where the server comes from.
const module = "go.etcd.io/etcd/server/v3"

// Version is that of the module.
func Version() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if m.Path == module {
				return strings.TrimPrefix(m.Version, "v")
			}
		}
	}
	return "unknown"
}

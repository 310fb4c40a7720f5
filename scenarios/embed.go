package scenarios

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

//go:embed *.yaml broken etcd kinds matrix postgres redis stores zookeeper
var files embed.FS

// FS is the scenario files that come with the program.
func FS() fs.FS { return files }

// List names the scenarios that come with the program, as Find takes them, in order.
func List() []string {
	var out []string
	err := fs.WalkDir(files, ".", func(path string, _ fs.DirEntry, err error) error {
		if name, ok := strings.CutSuffix(path, ".yaml"); ok {
			out = append(out, name)
		}
		return err
	})
	if err != nil {
		panic(fmt.Sprintf("scenarios: embedded files: %v", err))
	}
	return out
}

// NotFound says that there is no such scenario.
type NotFound struct {
	Name    string
	Suggest string // the nearest name; may be empty
}

func (e *NotFound) Error() string { return fmt.Sprintf("no scenario file %q", e.Name) }

// Is makes it an fs.ErrNotExist.
func (e *NotFound) Is(target error) bool { return target == fs.ErrNotExist }

// Find reads a scenario file: a path on the disk, else one of those that come with the program, by name
// ("redlock-partition", "broken/bare-del") or by path ("scenarios/redlock-partition.yaml"). file is the name to tell.
func Find(name string) (file string, src []byte, err error) {
	src, err = os.ReadFile(name)
	if err == nil {
		return name, src, nil
	}
	if !errors.Is(err, fs.ErrNotExist) && !isDir(name) {
		return "", nil, fmt.Errorf("read scenario: %w", err)
	}
	own := strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(name, "./"), "scenarios/"), ".yaml")
	src, err = files.ReadFile(own + ".yaml")
	if err != nil {
		return "", nil, &NotFound{Name: name, Suggest: nearest(own, List())}
	}
	return "scenarios/" + own + ".yaml", src, nil
}

// isDir says whether a name is a folder, which may be called like a scenario.
func isDir(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

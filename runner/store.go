package runner

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/locktest/locktest/internal/proc"
)

// Names of the files in a run's folder.
const (
	HistoryFile  = "history.jsonl"
	ScenarioFile = "scenario.yaml"
	ResolvedFile = "scenario.resolved.yaml"
	ResultFile   = "result.json"
	EnvFile      = "env.json"
	LogsDir      = "logs"

	Latest    = "latest" // beside the folders: a link to the last run that ended
	goingFile = ".going" // while a run lasts: whose it is
)

// ErrFolder is wrapped by every error about what can't be written to a run's folder.
var ErrFolder = errors.New("run folder")

// store is a run's folder.
type store struct {
	id  string
	dir string
}

// newStore makes DIR/TIME-NAME-ID, and marks it as that of a run that goes on.
func newStore(root, name string, seed uint64, now time.Time) (*store, error) {
	if err := os.MkdirAll(root, 0o755); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFolder, err)
	}
	for try := range 100 {
		id := runID(now, seed, try)
		dir := filepath.Join(root, fmt.Sprintf("%s-%s-%s", now.UTC().Format("20060102T150405"), name, id))
		err := os.Mkdir(dir, 0o755)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err == nil {
			err = os.Mkdir(filepath.Join(dir, LogsDir), 0o755)
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrFolder, err)
		}
		s := &store{id: id, dir: dir}
		return s, s.write(goingFile, []byte(proc.Machine()+" "+proc.OwnIdent()))
	}
	return nil, fmt.Errorf("%w: no free name in %s", ErrFolder, root)
}

// runID is short enough to type and differs between runs that begin in one instant.
func runID(now time.Time, seed uint64, try int) string {
	b := binary.BigEndian.AppendUint64(nil, uint64(now.UnixNano()))
	b = binary.BigEndian.AppendUint64(b, seed)
	b = binary.BigEndian.AppendUint64(b, uint64(os.Getpid())<<16|uint64(try))
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:2])
}

// ended takes the mark away, and points DIR/latest at a run that has something to judge.
func (s *store) ended(recorded bool) error {
	if err := os.Remove(s.path(goingFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %w", ErrFolder, err)
	}
	if !recorded {
		return nil
	}
	return s.latest(filepath.Dir(s.dir))
}

// GoesOn says whether the run of that folder goes on. One whose process was killed doesn't, nor does a copy from another machine.
func GoesOn(dir string) bool {
	b, err := os.ReadFile(filepath.Join(dir, goingFile))
	if err != nil {
		return false
	}
	machine, ident, _ := bytes.Cut(b, []byte(" "))
	lives, err := proc.Lives(string(ident))
	return string(machine) == proc.Machine() && (lives || err != nil)
}

// latest is set by rename, so that it never points nowhere while runs end at the same time.
func (s *store) latest(root string) error {
	link := filepath.Join(root, "."+s.id+"."+Latest)
	if err := os.Symlink(filepath.Base(s.dir), link); err != nil {
		return nil // a file system without links: the run is found by its name
	}
	if err := os.Rename(link, filepath.Join(root, Latest)); err != nil {
		os.Remove(link)
		return fmt.Errorf("%w: %w", ErrFolder, err)
	}
	return nil
}

func (s *store) path(name string) string { return filepath.Join(s.dir, name) }

func (s *store) write(name string, b []byte) error {
	if err := os.WriteFile(s.path(name), b, 0o644); err != nil {
		return fmt.Errorf("%w: %w", ErrFolder, err)
	}
	return nil
}

// environment is what a reader of the run has to know of the machine.
func (s *store) environment(versions map[string]string) error {
	e := map[string]any{"os": runtime.GOOS, "arch": runtime.GOARCH, "cores": runtime.NumCPU(), "go": runtime.Version(), "versions": versions}
	if b, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		e["kernel"] = string(trimNewline(b))
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		e["module"] = info.Main.Version
	}
	b, err := json.MarshalIndent(e, "", "  ")
	if err != nil {
		return err
	}
	return s.write(EnvFile, append(b, '\n'))
}

func trimNewline(b []byte) []byte {
	if n := len(b); n > 0 && b[n-1] == '\n' {
		return b[:n-1]
	}
	return b
}

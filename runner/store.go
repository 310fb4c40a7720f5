package runner

import (
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
)

// Names of the files in a run's folder.
const (
	HistoryFile  = "history.jsonl"
	ScenarioFile = "scenario.yaml"
	ResolvedFile = "scenario.resolved.yaml"
	ResultFile   = "result.json"
	EnvFile      = "env.json"
	LogsDir      = "logs"
)

// store is a run's folder.
type store struct {
	id  string
	dir string
}

// newStore makes DIR/TIME-NAME-ID and points DIR/latest at it.
func newStore(root, name string, seed uint64, now time.Time) (*store, error) {
	if err := os.MkdirAll(root, 0o755); err != nil {
		return nil, fmt.Errorf("run folder: %w", err)
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
			return nil, fmt.Errorf("run folder: %w", err)
		}
		s := &store{id: id, dir: dir}
		return s, s.latest(root)
	}
	return nil, fmt.Errorf("run folder: no free name in %s", root)
}

// runID is short enough to type and differs between runs that begin in one instant.
func runID(now time.Time, seed uint64, try int) string {
	b := binary.BigEndian.AppendUint64(nil, uint64(now.UnixNano()))
	b = binary.BigEndian.AppendUint64(b, seed)
	b = binary.BigEndian.AppendUint64(b, uint64(os.Getpid())<<16|uint64(try))
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:2])
}

// latest is set by rename, so that it never points nowhere while runs begin at the same time.
func (s *store) latest(root string) error {
	link := filepath.Join(root, "."+s.id+".latest")
	if err := os.Symlink(filepath.Base(s.dir), link); err != nil {
		return nil // a file system without links: the run is found by its name
	}
	if err := os.Rename(link, filepath.Join(root, "latest")); err != nil {
		os.Remove(link)
		return fmt.Errorf("run folder: %w", err)
	}
	return nil
}

func (s *store) path(name string) string { return filepath.Join(s.dir, name) }

func (s *store) write(name string, b []byte) error {
	if err := os.WriteFile(s.path(name), b, 0o644); err != nil {
		return fmt.Errorf("run folder: %w", err)
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

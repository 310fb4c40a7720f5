package reports

import (
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/locktest/locktest/runner"
)

// Folder is what a run's folder has beside its history, as text to be shown.
type Folder struct {
	Scenario    string // with every default; empty: there is none
	Environment string
	Logs        []Log
}

// Log is the end of one log.
type Log struct {
	Name string
	Tail string
}

const (
	maxLogs     = 40
	maxTail     = 4 << 10
	maxScenario = 256 << 10
)

// ReadFolder reads what is there; what isn't, or can't be read, stays empty.
func ReadFolder(dir string) Folder {
	f := Folder{Scenario: beginOf(filepath.Join(dir, runner.ResolvedFile)), Environment: beginOf(filepath.Join(dir, runner.EnvFile))}
	entries, err := os.ReadDir(filepath.Join(dir, runner.LogsDir))
	if err != nil {
		return f
	}
	for _, e := range entries {
		if tail := tailOf(filepath.Join(dir, runner.LogsDir, e.Name())); e.Type().IsRegular() && tail != "" && len(f.Logs) < maxLogs {
			f.Logs = append(f.Logs, Log{e.Name(), tail})
		}
	}
	return f
}

// beginOf is a file's first part.
func beginOf(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxScenario))
	if err != nil {
		return ""
	}
	return lines(b)
}

// tailOf is a file's last part, from the begin of a line.
func tailOf(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	from := max(0, info.Size()-maxTail)
	b, err := io.ReadAll(io.NewSectionReader(f, from, maxTail))
	if err != nil {
		return ""
	}
	if at := slices.Index(b, '\n'); from > 0 && at >= 0 {
		b = b[at+1:]
	}
	return lines(b)
}

// lines makes text harmless and keeps its lines.
func lines(b []byte) string {
	out := ""
	for i, l := range splitLines(string(b)) {
		if i > 0 {
			out += "\n"
		}
		out += clean(l)
	}
	return out
}

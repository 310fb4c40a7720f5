package proc

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
)

// tailBytes bounds how much of a file's end Tail reads.
const tailBytes = 64 << 10

// Tail returns up to the last n lines of a file, without reading more than its last 64 KiB.
func Tail(path string, n int) ([]string, error) {
	if path == "" || n <= 0 {
		return nil, nil
	}
	b, err := readEnd(path)
	if err != nil {
		return nil, fmt.Errorf("read the end of %s: %w", path, err)
	}
	b = bytes.TrimRight(b, "\n")
	if len(b) == 0 {
		return nil, nil
	}
	lines := strings.Split(string(b), "\n")
	return lines[max(0, len(lines)-n):], nil
}

func readEnd(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	from := max(0, info.Size()-tailBytes)
	b, err := io.ReadAll(io.NewSectionReader(f, from, tailBytes))
	if err != nil {
		return nil, err
	}
	if from > 0 { // the first line is cut somewhere in its middle
		b = b[bytes.IndexByte(b, '\n')+1:]
	}
	return b, nil
}

package redis

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
)

// prefix puts a killed server's data back to what a power cut right after its last write could have left. Killing the
// process loses nothing that it wrote, since the system has it; a power cut loses what wasn't flushed.
//
// With aof-everysec that is up to a second of writes. The append-only file has the time before the first write of each
// second ("#TS:", Redis 7); it is cut at the last of these. With aof-always every acknowledged write was flushed, and the file
// has no times; without persistence there is no file. Then nothing is cut.
func prefix(dir string) error {
	path, err := newestIncrement(filepath.Join(dir, "appendonlydir"))
	if path == "" || err != nil {
		return err
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if at := lastSecond(b); at >= 0 {
		if err := os.Truncate(path, int64(at)); err != nil {
			return fmt.Errorf("cut the append-only file: %w", err)
		}
	}
	return nil
}

// newestIncrement is the append-only file that was written last: NAME.aof.SEQUENCE.incr.aof.
func newestIncrement(dir string) (path string, err error) {
	found, err := filepath.Glob(filepath.Join(dir, "*.incr.aof"))
	if err != nil {
		return "", err
	}
	highest := -1
	for _, f := range found {
		parts := bytes.Split([]byte(filepath.Base(f)), []byte("."))
		n, err := strconv.Atoi(string(parts[len(parts)-3]))
		if err == nil && n > highest {
			path, highest = f, n
		}
	}
	if _, err := os.Stat(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	return path, nil
}

// lastSecond is where the last time stands in an append-only file, between two commands; -1: there is none. Like the
// server, it stops at what it can't read.
func lastSecond(b []byte) int {
	last := -1
	for at := 0; at < len(b); {
		next := -1
		switch b[at] {
		case '#':
			if bytes.HasPrefix(b[at:], []byte("#TS:")) {
				last = at
			}
			_, next = number(b, at)
		case '*':
			next = commandEnd(b, at)
		}
		if next < 0 {
			return last
		}
		at = next
	}
	return last
}

// commandEnd returns the end of a command in Redis's protocol that begins at at: *N, and N times $LENGTH and that many bytes. It is
// negative where the command isn't whole.
func commandEnd(b []byte, at int) int {
	n, at := number(b, at)
	for range n {
		if at < 0 || at >= len(b) || b[at] != '$' {
			return -1
		}
		var size int
		size, at = number(b, at)
		if at < 0 || size < 0 || size > len(b)-at-2 {
			return -1
		}
		at += size + 2
	}
	return at
}

// number reads a line of one letter and a number, and returns what follows the line; negative where the line isn't whole. What
// is no number counts as 0.
func number(b []byte, at int) (n, next int) {
	end := bytes.Index(b[at:], []byte("\r\n"))
	if end < 1 {
		return 0, -1
	}
	n, _ = strconv.Atoi(string(b[at+1 : at+end]))
	return n, at + end + 2
}

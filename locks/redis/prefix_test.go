package redis

import (
	"os"
	"path/filepath"
	"testing"
)

const (
	setA = "*3\r\n$3\r\nset\r\n$1\r\na\r\n$1\r\n1\r\n"
	// A value that looks like a time.
	setTS = "*3\r\n$3\r\nset\r\n$1\r\nb\r\n$8\r\n\r\n#TS:1\r\n\r\n"
)

func TestPrefix(t *testing.T) {
	tests := []struct{ name, file, want string }{
		{"the last second goes", "#TS:1\r\n" + setA + "#TS:2\r\n" + setA + setA, "#TS:1\r\n" + setA},
		{"all in one second", "#TS:1\r\n" + setA + setA, ""},
		{"without times nothing goes", setA + setA, setA + setA},
		{"a value isn't a time", setA + setTS, setA + setTS},
		{"a torn end", "#TS:1\r\n" + setA + "#TS:2\r\n" + setA[:9], "#TS:1\r\n" + setA},
		{"a torn length", "#TS:1\r\n" + setA + "*3\r\n$99999999999999999999\r\n", ""},
		{"empty", "", ""},
		{"not in the format", "hello", "hello"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			aof := filepath.Join(dir, "appendonlydir")
			if err := os.Mkdir(aof, 0o755); err != nil {
				t.Fatal(err)
			}
			old, path := filepath.Join(aof, "appendonly.aof.9.incr.aof"), filepath.Join(aof, "appendonly.aof.10.incr.aof")
			for _, f := range []string{old, path} {
				if err := os.WriteFile(f, []byte(tt.file), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if err := prefix(dir); err != nil {
				t.Fatal(err)
			}
			if got, _ := os.ReadFile(path); string(got) != tt.want {
				t.Errorf("left %q, want %q", got, tt.want)
			}
			if got, _ := os.ReadFile(old); string(got) != tt.file {
				t.Errorf("an older file was cut to %q", got)
			}
		})
	}
	if err := prefix(t.TempDir()); err != nil {
		t.Errorf("a folder without an append-only file: %v", err)
	}
}

func FuzzLastSecond(f *testing.F) {
	f.Add([]byte("#TS:1\r\n" + setA + "#TS:2\r\n" + setTS))
	f.Fuzz(func(t *testing.T, b []byte) {
		at := lastSecond(b)
		if at >= len(b) || at >= 0 && string(b[at:at+4]) != "#TS:" {
			t.Errorf("%q has no time at %d", b, at)
		}
		if again := lastSecond(b[:max(at, 0)]); again >= 0 && again >= at {
			t.Errorf("what is left has a time at %d, after the cut at %d", again, at)
		}
	})
}

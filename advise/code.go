package advise

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"
)

// programs are the sources, one file a lock and language. {{ms}} and {{s}} are the lease.
//
//go:embed code/*.go.txt code/*.py code/*.mjs code/*.java
var programs embed.FS

// Languages are what Code may be asked for.
func Languages() []string { return []string{"go", "python", "node", "java"} }

// ending is what a language's sources are called.
func ending(language string) string {
	return map[string]string{"go": ".go.txt", "python": ".py", "node": ".mjs", "java": ".java"}[language]
}

// Code is a whole program of at most twenty lines that takes the lock of c as it should be taken. Where there is none, the
// error says why, and in which languages there is one.
func Code(c Choice, language string) (string, error) {
	if !slices.Contains(Languages(), language) {
		return "", fmt.Errorf("%q is not one of %v", language, Languages())
	}
	b, err := source(c.Lock, language)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("no program for %s in %s: %s; %s", c.Lock, language, reason(c.Lock, language), others(c.Lock))
	}
	if err != nil {
		return "", err
	}
	seconds := (c.TTL + time.Second - 1) / time.Second
	return strings.NewReplacer("{{ms}}", strconv.FormatInt(c.TTL.Milliseconds(), 10), "{{s}}", strconv.FormatInt(int64(seconds), 10)).Replace(string(b)), nil
}

func source(lock, language string) ([]byte, error) {
	return programs.ReadFile("code/" + strings.ReplaceAll(lock, "/", "-") + ending(language))
}

// reason is why there is no program.
func reason(lock, language string) string {
	provider, _, _ := strings.Cut(lock, "/")
	switch {
	case lock == "redis/rwlock":
		return "its scripts alone are longer than twenty lines: they are in locks/redis/rwlock.go"
	case language == "java" && provider == "redis":
		return "Debian has no client of Redis for Java, and what isn't tried here isn't printed"
	case language == "java" && provider == "etcd":
		return "Debian has no client of etcd for Java, and what isn't tried here isn't printed"
	case lock == "redis/redlock":
		return "a majority written out takes more than twenty lines, and no well-kept library has it"
	case lock == "zookeeper/rwlock":
		return "the library has no lock that readers share, and the recipe written out takes more than twenty lines"
	case lock == "memory/mutex":
		return "one Node process does one thing at a time: let each work wait for the promise of the one before"
	}
	return "it is only written for other languages"
}

// others says in which languages there is one.
func others(lock string) string {
	var have []string
	for _, l := range Languages() {
		if _, err := source(lock, l); err == nil {
			have = append(have, l)
		}
	}
	if len(have) == 0 {
		return "there is none in another language either"
	}
	return "there is one in " + strings.Join(have, ", ")
}

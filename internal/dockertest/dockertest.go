// Package dockertest makes container images for tests out of the servers of this machine: their programs, and the libraries that
// these load, imported into the engine as they are. No registry is asked. It knows no test.
package dockertest

import (
	"archive/tar"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/client"
)

// Redis returns the name of an image with this machine's redis-server.
func Redis(t testing.TB) string {
	return have(t, image{
		name: "locktest.test/redis:" + version(t, "redis-server", `v=(\S+)`), programs: []string{find(t, "redis-server"), "/bin/sh"}, folders: []string{"data", "tmp"},
		changes: []string{`CMD ["redis-server"]`, "EXPOSE 6379/tcp", "WORKDIR /data", "ENV PATH=/usr/local/bin:/usr/bin:/bin"},
	})
}

// Postgres returns the name of an image with this machine's PostgreSQL, that prepares its data as the official one does.
func Postgres(t testing.TB) string {
	server, err := filepath.EvalSymlinks(find(t, "postgres", "/usr/lib/postgresql/*/bin/postgres"))
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Dir(server)
	home := filepath.Dir(bin)
	trees := []string{filepath.Join(home, "lib"), strings.Replace(home, "/lib/", "/share/", 1)}
	return have(t, image{
		name:     "locktest.test/postgres:" + version(t, server, `\(PostgreSQL\) (\S+)`),
		programs: []string{server, filepath.Join(bin, "initdb"), "/bin/sh"}, trees: trees,
		folders: []string{"var/lib/postgresql/data", "var/run/postgresql", "run/postgresql", "tmp"},
		files:   map[string]string{"usr/local/bin/docker-entrypoint.sh": entrypoint, "etc/passwd": "root:x:0:0::/:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n"},
		changes: []string{`ENTRYPOINT ["docker-entrypoint.sh"]`, `CMD ["postgres"]`, "EXPOSE 5432/tcp", "USER 65534:65534",
			"ENV PGDATA=/var/lib/postgresql/data", "ENV TZ=UTC", "ENV PATH=/usr/local/bin:" + bin + ":/usr/bin:/bin"},
	})
}

// entrypoint does of the official image's script what a harness relies on.
const entrypoint = `#!/bin/sh
set -e
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  initdb -D "$PGDATA" -U postgres -A trust $POSTGRES_INITDB_ARGS
  [ "$POSTGRES_HOST_AUTH_METHOD" != trust ] || echo "host all all all trust" >>"$PGDATA/pg_hba.conf"
fi
exec "$@"
`

// image is what one is made of.
type image struct {
	name     string
	programs []string // with the libraries that they load
	trees    []string // folders, whole
	folders  []string // that everybody may write to
	files    map[string]string
	changes  []string // as in a Dockerfile
}

// limit is how long an import may take.
const limit = 2 * time.Minute

// have imports the image unless the engine has it already.
func have(t testing.TB, i image) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	api, err := client.New(client.FromEnv)
	if err != nil {
		t.Fatal(err)
	}
	defer api.Close()
	if _, err := api.ImageInspect(ctx, i.name); err == nil {
		return i.name
	} else if !errdefs.IsNotFound(err) {
		t.Fatalf("%v; make docker starts an engine", err)
	}
	r, w := io.Pipe()
	go func() { w.CloseWithError(i.write(w)) }()
	name, tag, _ := strings.Cut(i.name, ":")
	out, err := api.ImageImport(ctx, client.ImageImportSource{Source: r, SourceName: "-"}, name, client.ImageImportOptions{Tag: tag, Changes: i.changes})
	if err != nil {
		t.Fatalf("import %s: %v", i.name, err)
	}
	defer out.Close()
	said, err := io.ReadAll(out)
	if err != nil || strings.Contains(string(said), "error") {
		t.Fatalf("import %s: %v: %s", i.name, err, said)
	}
	return i.name
}

// write makes a tar archive of the root folder.
func (i image) write(w io.Writer) error {
	a := &archive{w: tar.NewWriter(w), have: map[string]bool{}}
	for _, dir := range i.folders {
		a.folder(dir)
	}
	for name, text := range i.files {
		a.text(name, text)
	}
	for _, p := range i.programs {
		a.program(p)
	}
	for _, dir := range i.trees {
		a.tree(dir)
	}
	if a.err != nil {
		return a.err
	}
	return a.w.Close()
}

// archive keeps the first error.
type archive struct {
	w    *tar.Writer
	have map[string]bool
	err  error
}

func (a *archive) folder(path string) {
	a.put(&tar.Header{Typeflag: tar.TypeDir, Name: path + "/", Mode: 0o777, Uid: 65534, Gid: 65534}, nil)
}

func (a *archive) text(path, text string) {
	a.put(&tar.Header{Typeflag: tar.TypeReg, Name: path, Mode: 0o755, Size: int64(len(text))}, strings.NewReader(text))
}

// program takes a file, and what ldd says that it loads.
func (a *archive) program(path string) {
	a.file(path)
	out, err := exec.Command("ldd", path).Output()
	if err != nil {
		a.fail(fmt.Errorf("ldd %s: %w", path, err))
		return
	}
	for _, m := range loaded.FindAllStringSubmatch(string(out), -1) {
		a.file(m[1])
	}
}

var loaded = regexp.MustCompile(`(?m)(/\S+) \(0x`)

// tree takes a folder but for the compiler of queries, which is larger than the rest and which no lock needs.
func (a *archive) tree(dir string) {
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || strings.Contains(path, "llvm") || strings.HasSuffix(path, "/bitcode") {
			return err
		}
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			a.file(path)
		}
		return a.err
	})
	a.fail(err)
}

// file takes what path leads to, under path itself.
func (a *archive) file(path string) {
	f, err := os.Open(path)
	if err != nil {
		a.fail(err)
		return
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		a.fail(err)
		return
	}
	a.put(&tar.Header{Typeflag: tar.TypeReg, Name: strings.TrimPrefix(path, "/"), Mode: int64(info.Mode().Perm()), Size: info.Size()}, f)
}

func (a *archive) put(h *tar.Header, r io.Reader) {
	if a.err != nil || a.have[h.Name] {
		return
	}
	a.have[h.Name] = true
	if a.fail(a.w.WriteHeader(h)); a.err == nil && r != nil {
		_, err := io.Copy(a.w, r)
		a.fail(err)
	}
}

func (a *archive) fail(err error) {
	if a.err == nil {
		a.err = err
	}
}

// find looks on PATH, then at patterns, the last match first.
func find(t testing.TB, program string, patterns ...string) string {
	t.Helper()
	if path, err := exec.LookPath(program); err == nil {
		return path
	}
	for _, p := range patterns {
		if found, err := filepath.Glob(p); err == nil && len(found) > 0 {
			return found[len(found)-1]
		}
	}
	t.Fatalf("%s is missing: make deps installs it", program)
	return ""
}

func version(t testing.TB, program, pattern string) string {
	t.Helper()
	out, err := exec.Command(program, "--version").Output()
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(pattern).FindSubmatch(out)
	if m == nil {
		t.Fatalf("%s --version says %q", program, out)
	}
	return string(m[1])
}

//go:build advice && linux

package advise_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/locktest/locktest/advise"
	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/cluster/clustertest"
	"github.com/locktest/locktest/cluster/etcdd"
	"github.com/locktest/locktest/cluster/process"
	"github.com/locktest/locktest/locks/etcd"
	"github.com/locktest/locktest/locks/postgres"
	"github.com/locktest/locktest/locks/redis"
	"github.com/locktest/locktest/locks/zookeeper"
)

const (
	long  = 10 * time.Minute // for a hold that is not to end by itself, however slow the machine is
	short = 2 * time.Second
	limit = 2 * time.Minute // for whatever is to happen
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == etcd.ChildArg {
		etcdd.Main(os.Args[2:])
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// Every program that is printed compiles, and does on a real server what it says.
func TestPrograms(t *testing.T) {
	node := sync.OnceValues(func() (string, error) { return modules(t) })
	for provider, s := range map[string]struct {
		service cluster.Service
		nodes   int
	}{"redis": {redis.Service(), 3}, "postgres": {postgres.Service(), 1}, "etcd": {etcd.Service(etcdd.Version), 1}, "zookeeper": {zookeeper.Service(), 1}, "memory": {}} {
		t.Run(provider, func(t *testing.T) {
			t.Parallel()
			addrs := start(t, s.service, s.nodes)
			for _, lock := range lockNames() {
				for _, language := range advise.Languages() {
					text, err := advise.Code(advise.Choice{Lock: lock, TTL: long}, language)
					if err != nil || !strings.HasPrefix(lock, provider+"/") {
						continue // that there is a reason is tested elsewhere
					}
					t.Run(strings.TrimPrefix(lock, provider+"/")+"/"+language, func(t *testing.T) {
						t.Parallel()
						p := &program{lock: lock, language: language, text: text, addrs: addrs, node: node, name: "job" + strings.Map(letters, lock+language)}
						p.run(t)
					})
				}
			}
		})
	}
}

func lockNames() []string {
	return []string{"memory/mutex", "redis/single", "redis/redlock", "postgres/lease", "postgres/advisory", "postgres/advisory-shared", "postgres/optimistic",
		"etcd/lease", "etcd/rwlock", "etcd/cas", "zookeeper/ephemeral", "zookeeper/rwlock"}
}

func letters(r rune) rune {
	if r >= 'a' && r <= 'z' {
		return r
	}
	return -1
}

// start starts servers.
func start(t *testing.T, service cluster.Service, nodes int) (addrs []string) {
	t.Helper()
	if nodes == 0 {
		return nil
	}
	c, _ := clustertest.Up(t, process.Options{Service: service, Nodes: nodes})
	for _, node := range c.Nodes() {
		addrs = append(addrs, node.Addr())
	}
	return addrs
}

// modules installs the pinned packages of Node.
func modules(t *testing.T) (string, error) {
	dir, err := os.MkdirTemp("", "locktest-node-")
	if err != nil {
		return "", err
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.CopyFS(dir, os.DirFS("code/testdata/node")); err != nil {
		return "", err
	}
	cmd := exec.Command("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("npm ci: %w: %s", err, out)
	}
	return dir, nil
}

// program is one that was printed, whose work waits for a line.
type program struct {
	lock     string
	language string
	text     string
	name     string // of the lock, instead of job
	addrs    []string
	node     func() (string, error)
	argv     []string
}

var (
	job  = regexp.MustCompile(`\bjob\b`)
	once = regexp.MustCompile(`once: (CREATE TABLE )(.*\))`)
	// placeholders are what each language's work does, and what makes it wait.
	placeholders = map[string][2]string{
		"go":     {`(fmt\.Print\w+\([^)]*\));`, `$1; fmt.Scanln();`},
		"python": {`(print\(.*flush=True\))`, `$1; input()`},
		"node":   {`(console\.log\([^)]*\));`, `$1; await new Promise((r) => process.stdin.resume().once("data", () => { process.stdin.pause(); r(); }));`},
		"java":   {`(System\.out\.println\([^)]*\));`, `$1; try { System.in.read(); } catch (java.io.IOException e) { throw new java.io.UncheckedIOException(e); }`},
	}
)

// build writes and compiles text.
func (p *program) build(t *testing.T, text string) *program {
	t.Helper()
	q := *p
	dir := t.TempDir()
	file := filepath.Join(dir, map[string]string{"go": "main.go", "python": "job.py", "node": "job.mjs", "java": "Job.java"}[p.language])
	var compile []string
	switch p.language {
	case "go":
		compile = []string{"go", "build", "-ldflags=-s -w", "-o", filepath.Join(dir, "job"), file} // with the versions of this module
		q.argv = []string{filepath.Join(dir, "job")}
	case "python":
		q.argv = []string{"/usr/bin/python3", file} // Debian's, which has the packages
		compile = []string{"/usr/bin/python3", "-W", "error", "-m", "py_compile", file}
	case "node":
		modules, err := p.node()
		if err != nil {
			t.Fatal(err)
		}
		file = filepath.Join(modules, filepath.Base(dir)+p.name+".mjs")
		q.argv = []string{"node", file}
		compile = []string{"node", "--check", file}
	case "java":
		path := dir
		for _, jar := range []string{"postgresql", "curator-recipes", "slf4j-simple"} {
			path += ":/usr/share/java/" + jar + ".jar"
		}
		compile = []string{"javac", "-Xlint:all,-try,-serial,-path", "-Werror", "-cp", path, "-d", dir, file}
		q.argv = []string{"java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", path, "Job"}
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), compile[0], compile[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s\n%s", compile, err, out, text)
	}
	return &q
}

// waiting is text with a work that waits for a line, and with a lock of its own.
func (p *program) waiting(t *testing.T) string {
	t.Helper()
	h := placeholders[p.language]
	find := regexp.MustCompile(h[0])
	if n := len(find.FindAllString(p.text, -1)); n != 1 {
		t.Fatalf("%d placeholders, want 1:\n%s", n, p.text)
	}
	return job.ReplaceAllString(find.ReplaceAllString(p.text, h[1]), p.name)
}

func (p *program) run(t *testing.T) {
	if p.lock == "memory/mutex" {
		p.inOneProcess(t)
		return
	}
	q := p.build(t, p.waiting(t))
	q.prepare(t)
	switch {
	case p.lock == "postgres/optimistic" || p.lock == "etcd/cas":
		q.versions(t)
	case p.lock == "postgres/advisory":
		q.session(t)
	case p.lock == "postgres/advisory-shared":
		q.shared(t)
	case p.lock == "etcd/rwlock":
		reader := strings.NewReplacer(`"`+p.name+`/w-", "`+p.name+`/"`, `"`+p.name+`/r-", "`+p.name+`/w-"`).Replace(p.waiting(t))
		q.lease(t)
		q.readers(t, p.build(t, reader))
	default:
		q.lease(t)
	}
}

// lease: one of two is granted; a holder that stands still loses it and learns so; a dead one's is free after its end.
func (p *program) lease(t *testing.T) {
	brief := *p
	var err error
	if brief.text, err = advise.Code(advise.Choice{Lock: p.lock, TTL: short}, p.language); err != nil {
		t.Fatal(err)
	}
	passing := brief.build(t, brief.waiting(t))

	p.refusesAnother(t).end(false)
	a := passing.granted(t, 0)
	a.signal(syscall.SIGSTOP)
	b := p.granted(t, a.token)
	a.signal(syscall.SIGCONT)
	a.end(true) // and doesn't touch b's
	p.refused(t)
	b.end(false)
	passing.granted(t, b.token).kill()
	p.granted(t, b.token+1).end(false)
}

// refusesAnother has one hold that the other is refused for.
func (p *program) refusesAnother(t *testing.T) *running {
	t.Helper()
	a := p.granted(t, 0)
	p.refused(t)
	return a
}

// refused is told that it is busy, while somebody else holds. What failed otherwise, as on a machine that is too slow to be
// connected in time, is tried again, as it is in granted.
func (p *program) refused(t *testing.T) {
	t.Helper()
	for left := 5; ; left-- {
		r := p.start(t)
		if r.began() {
			t.Fatalf("two hold %s at once", p.name)
		}
		if r.busy() {
			return
		}
		if left == 0 {
			t.Fatalf("not busy: %s", r.errors())
		}
		t.Logf("not busy: %s", r.errors())
	}
}

// session: the lock ends with its connection, and not by itself.
func (p *program) session(t *testing.T) {
	p.refusesAnother(t).end(false)
	a := p.granted(t, 0)
	n := p.sql(t, `SELECT count(pg_terminate_backend(pid)) FROM pg_locks WHERE locktype = 'advisory' AND granted AND (classid::bigint << 32) | objid::bigint = hashtextextended($1, 0)`, p.name)
	if n != 1 {
		t.Fatalf("%d holders", n)
	}
	b := p.granted(t, 0)
	a.end(true)
	b.end(false)
	p.granted(t, 0).kill()
	p.granted(t, 0).end(false)
}

// shared: readers hold at once, and a writer keeps them out.
func (p *program) shared(t *testing.T) {
	writer := p.connect(t)
	if _, err := writer.Exec(t.Context(), `SELECT pg_advisory_lock(hashtextextended($1, 0))`, p.name); err != nil {
		t.Fatal(err)
	}
	p.refused(t)
	writer.Close(t.Context())
	a, b := p.granted(t, 0), p.granted(t, 0)
	a.end(false)
	b.kill()
	if n := p.sql(t, `WITH gone AS MATERIALIZED (SELECT pg_advisory_xact_lock(hashtextextended($1, 0))) SELECT count(*) FROM gone`, p.name); n != 1 {
		t.Errorf("%d", n)
	}
}

// readers: two of them at once, and no writer beside them.
func (p *program) readers(t *testing.T, reader *program) {
	a, b := reader.granted(t, 0), reader.granted(t, 0)
	p.refused(t)
	a.end(false)
	b.end(false)
}

// versions: who was slower begins again, and is busy when its time is over.
func (p *program) versions(t *testing.T) {
	const tries = 2 * time.Second // how long a program begins again
	done := int64(0)
	for again := false; !again; {
		began := time.Now()
		a := p.granted(t, 0)
		p.change(t)
		done++
		a.line()
		if again = a.began(); again {
			a.end(false)
			done++
		} else if !a.busy() || time.Since(began) < tries {
			t.Fatalf("the slower one doesn't begin again: %s", a.errors())
		}
	}

	a, b := p.granted(t, 0), p.granted(t, 0)
	b.end(false)
	done++
	time.Sleep(tries + 100*time.Millisecond)
	a.line()
	if a.began() || !a.busy() {
		t.Fatalf("the slower one is not busy: %s", a.errors())
	}
	if p.lock == "postgres/optimistic" {
		if n := p.sql(t, `SELECT value FROM jobs WHERE name = $1`, p.name); n != done {
			t.Errorf("%d were done, and the value is %d", done, n)
		}
	}
}

// change is faster than a program that has begun.
func (p *program) change(t *testing.T) {
	t.Helper()
	if p.lock == "postgres/optimistic" {
		p.sql(t, `UPDATE jobs SET value = value + 1, version = version + 1 WHERE name = $1 RETURNING version`, p.name)
		return
	}
	c, err := clientv3.New(clientv3.Config{Endpoints: p.addrs})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Put(t.Context(), p.name, "faster"); err != nil {
		t.Fatal(err)
	}
}

// inOneProcess has the work ask for the lock again.
func (p *program) inOneProcess(t *testing.T) {
	alone := p.build(t, p.waiting(t)).granted(t, 0)
	alone.end(false)
	again := strings.NewReplacer("context.Background(), work)", "context.Background(), func(ctx context.Context) error { return job.with(ctx, work) })",
		"\nwith_lock(work)", "\nwith_lock(lambda: with_lock(work))", "{ withLock(Job::work); }", "{ withLock(() -> { withLock(Job::work); return null; }); }").Replace(p.text)
	if again == p.text {
		t.Fatalf("no call:\n%s", p.text)
	}
	p.build(t, again).refused(t)
}

// prepare makes the table that the program says it needs.
func (p *program) prepare(t *testing.T) {
	t.Helper()
	m := once.FindStringSubmatch(p.text)
	if m == nil {
		return
	}
	db := p.connect(t)
	defer db.Close(t.Context())
	statements := []string{"SELECT pg_advisory_lock(1)", m[1] + "IF NOT EXISTS " + m[2]} // two would make the same table
	if strings.HasPrefix(m[2], "jobs ") {
		statements = append(statements, "INSERT INTO jobs VALUES ('"+p.name+"', 0, 1)")
	}
	for _, s := range statements {
		if _, err := db.Exec(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

func (p *program) connect(t *testing.T) *pgx.Conn {
	t.Helper()
	db, err := pgx.Connect(t.Context(), "postgres://postgres@"+p.addrs[0]+"/postgres?sslmode=disable")
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// sql asks for a number.
func (p *program) sql(t *testing.T, query string, args ...any) (n int64) {
	t.Helper()
	db := p.connect(t)
	defer db.Close(t.Context())
	if err := db.QueryRow(t.Context(), query, args...).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func (p *program) environment() []string {
	env := append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
	if len(p.addrs) == 0 {
		return env
	}
	host, port, _ := net.SplitHostPort(p.addrs[0])
	return append(env, "REDIS_URL=redis://"+p.addrs[0], "REDIS_ADDRS="+strings.Join(p.addrs, ","), "ETCD_ENDPOINTS="+p.addrs[0], "ETCD_ENDPOINT="+p.addrs[0], "ZK_HOSTS="+p.addrs[0],
		"DATABASE_URL=postgresql://postgres@"+p.addrs[0]+"/postgres?sslmode=disable", "JDBC_URL=jdbc:postgresql://"+host+":"+port+"/postgres?user=postgres")
}

// running is one process of a program.
type running struct {
	t     *testing.T
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   *bufio.Scanner
	err   bytes.Buffer
	token uint64
}

func (p *program) start(t *testing.T) *running {
	t.Helper()
	r := &running{t: t, cmd: exec.Command(p.argv[0], p.argv[1:]...)}
	r.cmd.Env, r.cmd.Stderr = p.environment(), &r.err
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	in, err := r.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := r.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	r.in, r.out = in, bufio.NewScanner(out)
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(limit, r.kill)
	t.Cleanup(func() {
		late.Stop()
		if r.cmd.ProcessState == nil {
			r.kill()
			r.cmd.Wait()
		}
	})
	return r
}

// granted starts one after another until one is granted, with a token above that of the grant before.
func (p *program) granted(t *testing.T, before uint64) *running {
	t.Helper()
	for began := time.Now(); ; {
		r := p.start(t)
		if r.began() {
			if p.tokens() && r.token <= before {
				t.Fatalf("token %d after %d", r.token, before)
			}
			return r
		}
		if !r.busy() {
			t.Logf("neither granted nor busy: %s", r.errors())
		}
		if time.Since(began) > limit {
			t.Fatal("nobody is granted it")
		}
	}
}

// tokens says whether the work is given one.
func (p *program) tokens() bool { return strings.Contains(p.text, `("token`) }

// began waits until the work begins, and says whether it did.
func (r *running) began() bool {
	if !r.out.Scan() {
		return false
	}
	word, number, _ := strings.Cut(r.out.Text(), " ")
	if word == "token" {
		n, err := strconv.ParseUint(strings.TrimSuffix(number, "n"), 10, 64)
		if err != nil || n == 0 {
			r.t.Errorf("%q is no token", r.out.Text())
		}
		r.token = n
	}
	return true
}

func (r *running) line() { fmt.Fprintln(r.in) }

// end lets the work end, and expects of the program to say whether it had lost the lock.
func (r *running) end(lost bool) {
	r.t.Helper()
	r.line()
	r.in.Close()
	for r.out.Scan() {
		r.t.Errorf("it goes on: %s", r.out.Text())
	}
	if err := r.cmd.Wait(); (err != nil) != lost {
		r.t.Errorf("lost: %v, and the program ended with %v: %s", lost, err, r.errors())
	}
}

// busy says whether the program ends with the error of that name.
func (r *running) busy() bool {
	r.in.Close()
	return r.cmd.Wait() != nil && strings.Contains(strings.ToLower(r.errors()), "busy")
}

func (r *running) errors() string { return r.err.String() }

func (r *running) signal(s syscall.Signal) {
	if err := syscall.Kill(-r.cmd.Process.Pid, s); err != nil {
		r.t.Error(err)
	}
}

func (r *running) kill() { syscall.Kill(-r.cmd.Process.Pid, syscall.SIGKILL) }

//go:build unix

package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"html"
	"html/template"
	"io/fs"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/locktest/locktest/catalog"
	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/cluster/clustertest"
	servers "github.com/locktest/locktest/cluster/process"
	"github.com/locktest/locktest/internal/access"
	"github.com/locktest/locktest/internal/ports"
	"github.com/locktest/locktest/internal/proc"
)

// A password that looks otherwise in JSON, in URLs, in a page and quoted.
const somePassword = `hunter"22/ö&x+_<y`

// standing starts a lock's servers as they would be for a run of their own.
func standing(t *testing.T, lock string, nodes int, self string) cluster.Cluster {
	t.Helper()
	l, ok := catalog.Find(lock)
	if !ok {
		t.Fatalf("there is no lock %s", lock)
	}
	service := l.Service()
	if service.Name == "etcd" { // its way with passwords is slow on purpose, and slower yet under the race detector
		command := service.Command
		service.Command = func(c cluster.NodeConfig) (argv, env []string) {
			argv, env = command(c)
			return append(argv, "--bcrypt-cost=4"), env
		}
	}
	c, err := servers.New(servers.Options{Service: service, Nodes: nodes, Spawner: clustertest.Spawner(t), Self: self, LogDir: t.TempDir()})
	if err != nil {
		t.Fatalf("%v; make deps installs it", err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// papers are files in PEM: of who signs, of a server at 127.0.0.1, and of a client.
type papers struct{ ca, cert, key, clientCert, clientKey string }

func makePapers(t *testing.T) papers {
	t.Helper()
	dir := t.TempDir()
	write := func(name, kind string, der []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	sign := func(name string, number int64, parent *x509.Certificate, by *ecdsa.PrivateKey) (cert, key string, c *x509.Certificate, k *ecdsa.PrivateKey) {
		k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		c = &x509.Certificate{SerialNumber: big.NewInt(number), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
			IsCA: parent == nil, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
			ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}, DNSNames: []string{"localhost"}}
		if parent == nil {
			parent, by = c, k
		}
		der, err := x509.CreateCertificate(rand.Reader, c, parent, &k.PublicKey, by)
		if err != nil {
			t.Fatal(err)
		}
		private, err := x509.MarshalPKCS8PrivateKey(k)
		if err != nil {
			t.Fatal(err)
		}
		return write(name+".pem", "CERTIFICATE", der), write(name+".key", "PRIVATE KEY", private), c, k
	}
	var p papers
	var root *x509.Certificate
	var by *ecdsa.PrivateKey
	p.ca, _, root, by = sign("ca", 1, nil, nil)
	p.cert, p.key, _, _ = sign("server", 2, root, by)
	p.clientCert, p.clientKey, _, _ = sign("client", 3, root, by)
	return p
}

// strictRedis wants a password, TLS, and a certificate of its clients; it returns its port.
func strictRedis(t *testing.T, p papers) int {
	t.Helper()
	l, _ := catalog.Find("redis/single")
	path, err := servers.Find(l.Service())
	if err != nil {
		t.Fatalf("%v; make deps installs it", err)
	}
	alloc, err := ports.New("127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { alloc.Close() })
	port, err := alloc.Take()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	server, err := clustertest.Spawner(t).Start(proc.Command{Path: path, Dir: dir, Log: filepath.Join(dir, "log"), Args: []string{"--bind", "127.0.0.1", "--port", "0", "--tls-port", strconv.Itoa(port), "--save", "", "--dir", dir,
		"--tls-cert-file", p.cert, "--tls-key-file", p.key, "--tls-ca-cert-file", p.ca, "--tls-auth-clients", "yes", "--requirepass", somePassword}})
	if err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(20 * time.Second)
	for {
		conn, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err == nil {
			conn.Close()
			return port
		}
		if time.Now().After(deadline) {
			t.Fatalf("it doesn't listen: %v\n%s", err, strings.Join(server.LogTail(10), "\n"))
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// strictPostgres wants a password of everybody.
func strictPostgres(t *testing.T) string {
	t.Helper()
	c := standing(t, "postgres/advisory", 1, "")
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	addr := c.Nodes()[0].Addr()
	conn, err := pgx.Connect(t.Context(), "postgres://postgres@"+addr+"/postgres?sslmode=disable")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	var hba string
	if err := conn.QueryRow(t.Context(), "SHOW hba_file").Scan(&hba); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(hba, []byte("host all all 127.0.0.0/8 scram-sha-256\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, sql := range []string{"CREATE USER locker PASSWORD '" + somePassword + "'", "GRANT pg_signal_backend, pg_read_all_stats TO locker", "SELECT pg_reload_conf()"} {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	deadline := time.Now().Add(20 * time.Second)
	for {
		probe, err := pgx.Connect(t.Context(), "postgres://postgres@"+addr+"/postgres?sslmode=disable")
		if err != nil {
			return addr
		}
		probe.Close(t.Context())
		if time.Now().After(deadline) {
			t.Fatal("it lets anybody in")
		}
	}
}

// guard has an etcd want a password.
func guard(t *testing.T, addr string) {
	t.Helper()
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{"http://" + addr}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, err = c.UserAdd(t.Context(), "root", somePassword)
	if err == nil {
		_, err = c.UserGrantRole(t.Context(), "root", "root")
	}
	if err == nil {
		_, err = c.AuthEnable(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Get(t.Context(), "k"); err == nil {
		t.Fatal("it lets anybody in")
	}
}

// secretsIn returns where a value is to be found, in any of its forms.
func secretsIn(t *testing.T, value, dir string, texts ...string) (found []string) {
	t.Helper()
	forms := []string{value, strings.ReplaceAll(value, `"`, `\"`), url.QueryEscape(value), url.PathEscape(value), base64.StdEncoding.EncodeToString([]byte(value))}
	for _, f := range slices.Clone(forms) { // in a page, in XML, in Markdown
		forms = append(forms, html.EscapeString(f), template.HTMLEscapeString(f), strings.ReplaceAll(html.EscapeString(f), "+", "&#43;"), access.MarkdownEscaper().Replace(f))
	}
	look := func(where, text string) {
		for _, f := range forms {
			if strings.Contains(text, f) {
				found = append(found, fmt.Sprintf("%q in %s", f, where))
			}
		}
	}
	for i, text := range texts {
		look(fmt.Sprintf("output %d", i+1), text)
	}
	files := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		files++
		b, err := os.ReadFile(path)
		look(path, string(b))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if files == 0 && dir != "" {
		t.Errorf("%s has no files: nothing was looked at", dir)
	}
	return found
}

const foreignHead = "version: 1\nname: external\nclients: { count: 3 }\nworkload: { use: counter, hold: 5ms..30ms, wait: 500ms }\nrun: { duration: 4s, warmup: 200ms, settle: 1200ms, seed: 3 }\nevidence: { min-acquires: 20 }\n" +
	"faults: [{ at: 500ms, for: 300ms, partition: holder }, { at: 1500ms, reset: c1 }, { at: 2200ms, for: 300ms, pause: holder }]\n"

func foreignScenario(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s.yaml")
	if err := os.WriteFile(path, []byte(foreignHead+text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// Whole runs against servers that the harness didn't start, with what these ask for; nothing that was written has the password.
func TestExternal(t *testing.T) {
	t.Setenv("EXTERNAL_PASSWORD", somePassword)
	file := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(file, []byte(somePassword+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := makePapers(t)
	plain, guarded := standing(t, "etcd/lease", 1, catalog.Self()), standing(t, "etcd/lease", 1, catalog.Self())
	keeper := standing(t, "zookeeper/ephemeral", 1, "")
	for _, c := range []cluster.Cluster{plain, guarded, keeper} {
		if err := c.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	guard(t, guarded.Nodes()[0].Addr())
	for name, c := range map[string]struct {
		text, says string
		clients    []string
	}{
		"redis by TLS, a certificate and a password": {fmt.Sprintf("lock: { use: redis/single, ttl: 1s }\ncluster: { kind: external, endpoints: [\"localhost:%d\"], password-env: EXTERNAL_PASSWORD, tls-ca: %s, tls-cert: %s, tls-key: %s }\n",
			strictRedis(t, p), p.ca, p.clientCert, p.clientKey), "by TLS", []string{"separate", "shared"}},
		"postgres by user and password": {fmt.Sprintf("lock: { use: postgres/advisory, options: { database: postgres } }\ncluster: { kind: external, endpoints: [%q], user: locker, password-file: %s }\n", strictPostgres(t), file), "postgres, external", []string{"separate"}},
		"etcd":                          {fmt.Sprintf("lock: { use: etcd/lease, ttl: 2s }\ncluster: { kind: external, endpoints: [%q] }\n", plain.Nodes()[0].Addr()), "etcd, external", []string{"separate"}},
		"etcd by user and password":     {fmt.Sprintf("lock: { use: etcd/lease, ttl: 2s }\ncluster: { kind: external, endpoints: [%q], user: root, password-env: EXTERNAL_PASSWORD }\n", guarded.Nodes()[0].Addr()), "etcd, external", []string{"separate"}},
		"zookeeper by digest":           {fmt.Sprintf("lock: { use: zookeeper/ephemeral, ttl: 2s }\ncluster: { kind: external, endpoints: [%q], user: locker, password-env: EXTERNAL_PASSWORD }\n", keeper.Nodes()[0].Addr()), "zookeeper, external", []string{"separate"}},
	} {
		for _, clients := range c.clients {
			t.Run(name+", clients "+clients, func(t *testing.T) {
				dir := t.TempDir()
				r := locktest(t, "run", foreignScenario(t, c.text), "--set", "clients.process="+clients, "--run-dir", dir, "--verbose",
					"-o", "junit="+filepath.Join(dir, "junit.xml"), "-o", "markdown="+filepath.Join(dir, "summary.md"))
				if r.status != 0 || !strings.Contains(r.stdout, c.says) {
					t.Errorf("status %d\n%s\n%s", r.status, r.stdout, r.stderr)
				}
				if found := secretsIn(t, somePassword, dir, r.stdout, r.stderr); len(found) > 0 {
					t.Errorf("the password is shown: %v", found)
				}
			})
		}
	}
}

// A server that says the password in its own words is not repeated.
func TestExternalErrorsAreDiscreet(t *testing.T) {
	const wrong = "a-wrong-password-17"
	t.Setenv("EXTERNAL_PASSWORD", wrong)
	for name, text := range map[string]string{
		"postgres":                      fmt.Sprintf("lock: { use: postgres/advisory }\ncluster: { kind: external, endpoints: [%q], user: locker, password-env: EXTERNAL_PASSWORD }\n", strictPostgres(t)),
		"a server that repeats what it": fmt.Sprintf("lock: { use: redis/single }\ncluster: { kind: external, endpoints: [%q], password-env: EXTERNAL_PASSWORD }\n", parrot(t)),
	} {
		for _, args := range [][]string{{"--json"}, {"--set", "clients.process=shared", "--verbose"}} {
			t.Run(name+" "+args[0], func(t *testing.T) {
				t.Parallel() // they mostly wait for each other's time-outs
				dir := t.TempDir()
				r := locktest(t, append([]string{"run", scenario(t, text), "--run-dir", dir, "--set", "clients.count=1"}, args...)...)
				if r.status == 0 {
					t.Errorf("it went well:\n%s", r.stdout)
				}
				if found := secretsIn(t, wrong, dir, r.stdout, r.stderr); len(found) > 0 {
					t.Errorf("the password is shown: %v", found)
				}
				if name != "postgres" {
					history, err := os.ReadFile(filepath.Join(dir, "latest", "history.jsonl"))
					if err != nil || !strings.Contains(string(history), "***") {
						t.Errorf("the server's words didn't reach the history, so that nothing was tested (%v)", err)
					}
				}
			})
		}
	}
}

// parrot answers each request with an error that has the request's words in it.
func parrot(t *testing.T) string {
	t.Helper()
	return clustertest.Serve(t, func(conn net.Conn) {
		for b := make([]byte, 4096); ; {
			n, err := conn.Read(b)
			if err != nil {
				return
			}
			fmt.Fprintf(conn, "-ERR you said %s\r\n", strings.NewReplacer("\r", " ", "\n", " ").Replace(string(b[:n])))
		}
	})
}

func TestExternalRefusals(t *testing.T) {
	nobody, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	dead := nobody.Addr().String()
	nobody.Close()
	plain := parrot(t)
	p := makePapers(t)
	at := func(addr, more string) string {
		return fmt.Sprintf("lock: { use: redis/single, ttl: 1s }\ncluster: { kind: external, endpoints: [%q]%s }\n", addr, more)
	}
	for name, c := range map[string]struct {
		text   string
		status int
		words  []string
	}{
		"nobody is there":              {at(dead, ""), 69, []string{"LT108", "n1 at " + dead}},
		"it speaks no TLS":             {at(plain, ", tls: true"), 69, []string{"LT108"}},
		"signed by somebody else":      {at(tlsServer(t, p), ", tls: true"), 69, []string{"LT108", "tls-ca names"}},
		"a password that isn't set":    {at(plain, ", password-env: LOCKTEST_NO_SUCH"), 69, []string{"LT109", "LOCKTEST_NO_SUCH, which is not set"}},
		"a file that isn't there":      {at(plain, ", password-file: /nowhere/password"), 69, []string{"LT109", "/nowhere/password"}},
		"Sentinels":                    {"lock: { use: redis/sentinel }\ncluster: { kind: external, endpoints: [\"a:1\", \"a:2\", \"a:3\", \"a:4\", \"a:5\"] }\n", 69, []string{"LT104", "bypass the links"}},
		"a kill":                       {at(plain, "") + "faults: [{ at: 200ms, for: 200ms, kill: n1 }]\n", 65, []string{"LT105", "allow-faults"}},
		"a pause by chance":            {at(plain, "") + "faults: [{ every: 200ms, for: 100ms, random: { of: [pause], on: nodes } }]\n", 65, []string{"LT105", "allow-faults"}},
		"a kill that is allowed":       {at(plain, ", allow-faults: true") + "faults: [{ at: 200ms, for: 200ms, kill: n1 }]\n", 65, []string{"LT105", "n1 (external) can't be killed"}},
		"a clock that may be wrong":    {at(plain, ", allow-faults: true") + "faults: [{ at: 200ms, for: 200ms, clock: { of: n1, jump: +1s } }]\n", 65, []string{"LT105", "external"}},
		"a message that can't be read": {at(plain, ", tls: true") + "faults: [{ at: 200ms, message: { of: c1, drop: reply } }]\n", 65, []string{"LT105"}},
		"no endpoint":                  {"lock: { use: redis/single }\ncluster: { kind: external }\n", 65, []string{"LT006", "endpoints"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := locktest(t, "run", scenario(t, c.text), "--run-dir", t.TempDir())
			says(t, r, c.status, c.words...)
		})
	}
}

// tlsServer speaks TLS and nothing else.
func tlsServer(t *testing.T, p papers) string {
	t.Helper()
	pair, err := tls.LoadX509KeyPair(p.cert, p.key)
	if err != nil {
		t.Fatal(err)
	}
	return clustertest.Serve(t, func(conn net.Conn) {
		tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{pair}}).Handshake()
	})
}

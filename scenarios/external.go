package scenarios

import (
	"fmt"
	"net"
	"regexp"
	"strconv"

	"github.com/locktest/locktest/internal/access"
)

// Access is how servers that stand already let clients in. It names places and no secret.
type Access struct {
	User         string
	PasswordEnv  string
	PasswordFile string
	TLS          bool
	CA           string
	Cert         string
	Key          string
}

// accessKeys are those of cluster that are read into an Access.
func accessKeys() []string {
	return []string{"user", "password-env", "password-file", "tls", "tls-ca", "tls-cert", "tls-key"}
}

// clusterKeys are those that mean something for some kinds of clusters only.
func clusterKeys() []string {
	return append([]string{"version", "image", "endpoints", "allow-faults"}, accessKeys()...)
}

func (d *decoder) access(r *reader) Access {
	a := Access{User: r.text("user"), PasswordEnv: r.text("password-env"), PasswordFile: r.text("password-file"), TLS: r.flag("tls"),
		CA: r.text("tls-ca"), Cert: r.text("tls-cert"), Key: r.text("tls-key")}
	d.both("password-env", a.PasswordEnv, "password-file", a.PasswordFile)
	for _, pair := range [][4]string{{"tls-cert", a.Cert, "tls-key", a.Key}, {"tls-key", a.Key, "tls-cert", a.Cert}} {
		if pair[1] != "" && pair[3] == "" {
			d.fail("cluster."+pair[2], Problem{Code: CodeMissing, Message: fmt.Sprintf("cluster.%s needs %s", pair[0], pair[2]), Place: d.at("cluster."+pair[0], "this alone")})
		}
	}
	return a
}

// both refuses the second of two keys that say the same.
func (d *decoder) both(first, a, second, b string) {
	if a != "" && b != "" {
		d.fail("cluster."+second, Problem{Code: CodeMeaningless, Message: fmt.Sprintf("cluster.%s means nothing beside %s", second, first), Place: d.at("cluster."+second+keyMark, "one of them"), Related: d.related("cluster."+first, "the other")})
	}
}

// external looks at the endpoints, and how many there are.
func (d *decoder) external(c Cluster, r *reader) {
	if c.Kind != "external" || !d.sound("cluster.kind") {
		return
	}
	if len(c.Endpoints) == 0 && d.sound("cluster.endpoints") {
		d.fail("cluster.endpoints", Problem{Code: CodeMissing, Message: "an external cluster has no endpoints", Place: d.at("cluster.kind", "where is it?"), Fix: "add endpoints: [HOST:PORT, ...]"})
		return
	}
	for i, e := range c.Endpoints {
		if !isEndpoint(e) {
			at := d.at("cluster.endpoints", "not HOST:PORT")
			d.fail("cluster.endpoints", Problem{Code: CodeEndpoint, Message: fmt.Sprintf("endpoint %d is not HOST:PORT", i+1), Place: at, So: "who enters, and by which password, is said by user, password-env or password-file"})
		}
	}
	if r.values["nodes"] != nil && c.Nodes != len(c.Endpoints) && d.sound("cluster.endpoints") && d.sound("cluster.nodes") {
		d.fail("cluster.nodes", Problem{Code: CodeMeaningless, Message: fmt.Sprintf("nodes: %d, and %s", c.Nodes, plural(len(c.Endpoints), "endpoint")), Place: d.at("cluster.nodes", "each endpoint is a node"), Related: d.related("cluster.endpoints", "these")})
	}
}

var hostName = regexp.MustCompile(`^[A-Za-z0-9_.:-]+$`)

func isEndpoint(s string) bool {
	host, port, err := net.SplitHostPort(s)
	n, bad := strconv.Atoi(port)
	return err == nil && bad == nil && n > 0 && n < 1<<16 && hostName.MatchString(host)
}

// discreet hides what looks like a password in what problems show of a file.
func (p Problems) discreet() {
	for i := range p {
		q := &p[i]
		q.Place.Text = access.Line(q.Place.Text)
		q.Message, q.So, q.Fix = access.Line(q.Message), access.Line(q.So), access.Line(q.Fix)
		if q.Related != nil {
			r := *q.Related
			r.Text = access.Line(r.Text)
			q.Related = &r
		}
	}
}

package scenarios

import (
	"fmt"
	"slices"
)

func (d *decoder) cluster(n *node) Cluster {
	options := d.names.serverOptions(d.scenario.Lock.Use)
	if !d.sound("lock.use") {
		options = d.names.serverOptions("")
	}
	r := d.slot(n, "cluster", "cluster", keys(options)...)
	c := Cluster{
		Kind: r.name("kind", "kind of cluster", keys(d.names.Clusters)), Nodes: r.count("nodes"), Options: r.known(options),
		Version: r.text("version"), Image: r.text("image"), Endpoints: r.texts("endpoints"), AllowFaults: r.flag("allow-faults"),
		Access: d.access(r),
	}
	for _, key := range clusterKeys() {
		if r.values[key] != nil && d.sound("cluster.kind") && !slices.Contains(d.names.Clusters[c.Kind].Keys, key) {
			d.fail("cluster."+key, Problem{Code: CodeMeaningless, Message: fmt.Sprintf("cluster.%s means nothing on kind %s", key, c.Kind), Place: d.at("cluster."+key+keyMark, "not for this kind"), Related: d.related("cluster.kind", "the kind")})
		}
	}
	d.both("image", c.Image, "version", c.Version)
	d.external(c, r)
	d.clusterFits(c, r)
	return c
}

// clusterFits compares a cluster with what the lock needs.
func (d *decoder) clusterFits(c Cluster, r *reader) {
	use := d.scenario.Lock.Use
	known, ok := d.names.Locks[use]
	if !ok {
		return
	}
	if known.Memory {
		for _, key := range []string{"nodes", "kind"} {
			if n := r.values[key]; n != nil && n.text != "auto" {
				d.refuseLock("cluster."+key, "cluster."+key, "lives in memory and has no servers")
			}
		}
		return
	}
	if n := len(c.Endpoints); n > 0 && d.sound("cluster.endpoints") && (n < known.MinNodes || known.MaxNodes > 0 && n > known.MaxNodes) {
		d.refuseLock("cluster.endpoints", plural(n, "endpoint"), "runs on "+between(known.MinNodes, known.MaxNodes))
	}
	if r.values["nodes"] == nil || !d.sound("cluster.nodes") {
		return
	}
	if c.Nodes < known.MinNodes || known.MaxNodes > 0 && c.Nodes > known.MaxNodes {
		d.refuseLock("cluster.nodes", fmt.Sprintf("nodes: %d", c.Nodes), "runs on "+between(known.MinNodes, known.MaxNodes))
	}
}

func between(least, most int) string {
	switch {
	case most == 0:
		return fmt.Sprintf("%d nodes or more", least)
	case least == most:
		return plural(least, "node")
	}
	return fmt.Sprintf("%d to %d nodes", max(1, least), most)
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

package scenarios

import "fmt"

// maxThreads bounds the threads of all clients together.
const maxThreads = 10000

func (d *decoder) clients(n *node) Clients {
	r := d.slot(n, "clients", "clients")
	c := Clients{Count: r.count("count"), Process: r.text("process"), Threads: r.count("threads")}
	c.Options = d.clientOptions(r, c.Count)
	if d.sound("clients.count", "clients.threads") && c.Count*c.Threads > maxThreads {
		d.fail("clients.threads", Problem{
			Code: CodeNumber, Message: fmt.Sprintf("%d clients with %d threads each are more than one machine can run", c.Count, c.Threads),
			Place: d.at("clients.threads", fmt.Sprintf("at most %d of all clients together", maxThreads)), Related: d.related("clients.count", "times these"),
		})
	}
	known, ok := d.names.Locks[d.scenario.Lock.Use]
	if !ok {
		return c
	}
	if known.SharedOnly && c.Process == "separate" {
		d.refuseLock("clients.process", "process: separate", "has clients that share this process")
	}
	if c.Process == "" && d.sound("clients.process") {
		c.Process = "separate"
		if known.SharedOnly {
			c.Process = "shared"
		}
	}
	return c
}

func (d *decoder) clientOptions(r *reader, count int) map[string]map[string]string {
	n := r.values["options"]
	if n == nil {
		return nil
	}
	known := d.names.Locks[d.scenario.Lock.Use].ClientOptions
	sub := d.open(n, "clients.options", "clients.options")
	var out map[string]map[string]string
	for _, client := range keys(sub.values) {
		path := sub.key(client)
		if number(client, 'c') == 0 || number(client, 'c') > count && d.sound("clients.count") {
			d.fail(path, Problem{Code: CodeTarget, Message: fmt.Sprintf("client %s does not exist", client), Place: d.at(path+keyMark, "not one of them"), So: fmt.Sprintf("there are %s: c1 to c%d", plural(count, "client"), count)})
			continue
		}
		v := sub.options(client, known)
		if out == nil {
			out = map[string]map[string]string{}
		}
		if v != nil {
			out[client] = v
		}
	}
	return out
}

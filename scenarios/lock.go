package scenarios

import (
	"fmt"
	"time"
)

// shortestLease is the unit in which leases are asked for.
const shortestLease = time.Millisecond

func (d *decoder) lock(n *node) Lock {
	r := d.slot(n, "lock", "lock")
	l := Lock{
		Use: r.name("use", "lock", keys(d.names.Locks)), TTL: r.duration("ttl"), Mode: r.text("mode"), Permits: r.count("permits"),
		Command: r.texts("command"), Server: r.text("server"),
	}
	d.scenario.Lock = l
	r.positive("ttl", l.TTL)
	if d.sound("lock.ttl") && l.TTL < shortestLease {
		d.fail("lock.ttl", Problem{
			Code: CodeDuration, Message: fmt.Sprintf("no lease is as short as %s", formatDuration(l.TTL)),
			Place: d.at("lock.ttl", "at least "+formatDuration(shortestLease)), So: "clients and servers count leases in whole milliseconds",
		})
	}
	if !d.sound("lock.use") {
		return l
	}
	if l.Use == "" {
		d.portable(r)
		return l
	}
	l.Options = r.options("options", d.names.Locks[l.Use].Options)
	d.lockKeys(r, d.names.Locks[l.Use])
	return l
}

// NoLock is the problem of a portable scenario that is to be run without a lock. src is the file that s was read from.
func NoLock(s *Scenario, src []byte) Problem {
	source := newSource(s.File, src)
	place := source.place(1, 1, 1)
	if root, problem := parse(source, src); problem == nil {
		place = root.place
		if n := root.get("lock"); n != nil {
			place = n.place
		}
	}
	return Problem{
		Code: CodeNoLock, Message: s.Name + " names no lock", Place: labelled(place, "portable: it runs with any lock"),
		Fix: "choose one: --lock PROVIDER/STRATEGY",
	}
}

// portable refuses what can't be judged without knowing the lock.
func (d *decoder) portable(r *reader) {
	for _, key := range []string{"options", "command", "server"} {
		if n := r.values[key]; n != nil {
			d.fail("lock."+key, Problem{Code: CodeLock, Message: fmt.Sprintf("lock.%s is for one lock, and none is named", key), Place: d.at("lock."+key+keyMark, "of which lock?"), Fix: "add use: PROVIDER/STRATEGY"})
		}
	}
}

// lockKeys refuses keys that this lock doesn't take.
func (d *decoder) lockKeys(r *reader, known LockName) {
	for _, c := range []struct {
		key   string
		takes bool
		what  string
	}{
		{"command", known.Command, "is no program to start"},
		{"server", known.Command, "brings its own server"},
		{"permits", known.Permits, "has no permits"},
	} {
		if r.values[c.key] != nil && !c.takes {
			d.refuseLock("lock."+c.key, "lock."+c.key, c.what)
		}
	}
	if known.Command && len(d.scenario.Lock.Command) == 0 && d.sound("lock.command") {
		r.missing("command")
	}
	if d.scenario.Lock.Mode == "shared" && !known.SharedMode {
		d.refuseLock("lock.mode", "mode: shared", "has no shared mode")
	}
}

// refuseLock reports that the scenario's lock doesn't do what stands at path.
func (d *decoder) refuseLock(path, what, why string) {
	use := d.scenario.Lock.Use
	d.fail(path, Problem{
		Code: CodeLock, Message: fmt.Sprintf("%s does not fit %s", what, use),
		Place: d.at(path, use+" "+why), Related: d.related("lock.use", "the lock"),
	})
}

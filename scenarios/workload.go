package scenarios

import (
	"fmt"
	"time"
)

func (d *decoder) workload(n *node) Workload {
	r := d.slot(n, "workload", "workload")
	w := Workload{
		Use: r.name("use", "workload", keys(d.names.Workloads)), Locks: r.count("locks"), Hold: r.span("hold"), Think: r.span("think"),
		Wait: r.duration("wait"), Extend: d.extend(r), Fail: r.percent("fail"),
		Readers: r.percent("readers"), Order: r.text("order"), Deduplicate: r.flag("deduplicate"), Early: r.text("read") == "before-lock",
		Resource: r.name("resource", "resource", keys(d.names.Resources)), Store: r.name("store", "store", keys(d.names.Stores)),
	}
	if known, ok := d.names.Locks[d.scenario.Lock.Use]; ok && w.Extend > 0 && !known.Extends {
		d.refuseLock("workload.extend", "extend", "can't extend a lease")
	}
	d.fits(w)
	return w
}

// fits refuses a workload that the lock, or the number of locks, gives no chance.
func (d *decoder) fits(w Workload) {
	known, named := d.names.Locks[d.scenario.Lock.Use]
	for _, c := range []struct {
		use, why string
		can      bool
	}{
		{"rwlock", "has no shared mode", known.SharedMode},
		{"semaphore", "has no permits", known.Permits},
		{"reentrant", "can't be taken again by its holder", known.Reentrant},
	} {
		if named && w.Use == c.use && !c.can {
			d.refuseLock("workload.use", "workload "+w.Use, c.why)
		}
	}
	if w.Use == "nested" && w.Locks < 2 && d.sound("workload.locks") {
		d.fail("workload.locks", Problem{Code: CodeLock, Message: "the workload nested takes two locks", Place: d.at("workload.use", "needs a second lock"), Fix: "write locks: 2"})
	}
}

func (d *decoder) run(n *node) Run {
	r := d.slot(n, "run", "run")
	out := Run{Duration: r.duration("duration"), Warmup: r.duration("warmup")}
	d.scenario.Run = out
	if d.sound("lock.ttl") || r.values["settle"] != nil {
		out.Settle = r.duration("settle")
	} else {
		d.spoil("run.settle")
	}
	out.Seed, out.HasSeed = r.number("seed"), r.values["seed"] != nil
	out.Repeat, out.Budget = r.count("repeat"), r.duration("budget")
	if d.sound("run.duration", "run.warmup", "run.settle") && out.Warmup+out.Settle >= out.Duration {
		d.fail("run.duration", Problem{
			Code: CodeTimes, Message: "warmup and settle leave no time for anything else",
			Place:   d.at("run.duration", fmt.Sprintf("holds warmup (%s) and settle (%s)", formatDuration(out.Warmup), formatDuration(out.Settle))),
			Related: d.related("run.settle", "settle"),
		})
	}
	d.scenario.Run = out
	return out
}

// extend reads how often leases are extended; never is 0.
func (d *decoder) extend(r *reader) time.Duration {
	return read(r, "extend", func(text string) (time.Duration, *mistake) {
		if text == "never" {
			return 0, nil
		}
		every, m := parseDuration(text)
		switch {
		case m != nil && m.fix == "":
			m.fix = "write a duration, or never"
		case m == nil && every == 0:
			m = &mistake{CodeDuration, "a lease can't be extended all the time", "zero", "write never"}
		}
		return every, m
	})
}

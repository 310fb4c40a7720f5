package checker

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"
)

// frontier decides linearizability for any specification and any behaviour of owners, by just-in-time linearization
// (Lowe, "Testing for linearizability", Concurrency and Computation, 2017). It goes through calls and returns by time
// and keeps the configurations that are possible: a state, which pending deeds have taken effect, and how many unknown
// ones of each kind were used. At the return of a deed those in which it has not taken effect are led on until it has;
// where nothing is left, the history is illegal.
//
// Unknown deeds are counted by kind, never told apart, and a configuration that used fewer of them stands for those
// that used more. Where owners do one thing at a time, two orders lose nothing: an acquire waits for its own return,
// and a release counts as soon as it can, unless an unknown release of the same owner is still to come. An unknown
// acquire is used only where a release of its owner needs it.
//
// It is exact. The worst case is exponential, so it has a budget.
type frontier[S comparable] struct {
	spec    spec[S]
	deeds   []deed
	budget  budget
	ordered bool // the two orders apply

	configs []config[S]
	pending pendingSet
	kinds   kindTable
	uses    *useTable
	returns int
	widest  int
	seen    map[place[S]][]int32
	mapped  bool // seen is in use
}

// budget bounds the general engine.
type budget struct {
	configs int  // at a time
	bytes   int  // by its own count; 0: no limit
	forget  int  // returns between two clearings of used-up unknown deeds; 0: 32
	plain   bool // without the two orders, as if owners did several things at a time
}

// config is one way in which things may stand.
type config[S comparable] struct {
	state S
	done  pendingBits // pending deeds that have taken effect
	used  int32       // of unknown deeds, in useTable
}

type place[S comparable] struct {
	state S
	done  pendingBits
}

func newFrontier[S comparable](m spec[S], ds []deed, b budget) *frontier[S] {
	return &frontier[S]{
		spec: m, deeds: ds, budget: b, ordered: !b.plain && oneAtATime(ds),
		configs: []config[S]{{state: m.start()}}, pending: newPendingSet(), kinds: newKindTable(), uses: newUseTable(),
		seen: map[place[S]][]int32{},
	}
}

// instant is the call or the return of a deed. Those of one moment are concurrent, so calls come first.
type instant struct {
	at     time.Duration
	deed   int32
	answer bool
}

// instants are the calls, which come in order, and the returns, merged.
func (f *frontier[S]) instants() []instant {
	answers := make([]instant, 0, len(f.deeds))
	for i := range f.deeds {
		if d := &f.deeds[i]; !d.unsure() {
			answers = append(answers, instant{d.ret, int32(i), true})
		}
	}
	slices.SortFunc(answers, func(a, b instant) int {
		if a.at != b.at {
			return cmp.Compare(a.at, b.at)
		}
		return int(a.deed - b.deed)
	})
	out := make([]instant, 0, len(f.deeds)+len(answers))
	for i := range f.deeds {
		call := f.deeds[i].call
		for len(answers) > 0 && answers[0].at < call {
			out = append(out, answers[0])
			answers = answers[1:]
		}
		out = append(out, instant{call, int32(i), false})
	}
	return append(out, answers...)
}

func (f *frontier[S]) run(ctx context.Context) engineVerdict {
	for n, e := range f.instants() {
		if n%4096 == 0 && ctx.Err() != nil {
			return f.giveUp("checking was stopped")
		}
		d := &f.deeds[e.deed]
		switch {
		case !e.answer && d.unsure():
			f.kinds.add(d)
		case !e.answer:
			if !f.pending.add(e.deed, d) {
				return f.giveUp(fmt.Sprintf("more than %d operations were pending", maxPending))
			}
		default:
			if why := f.settle(e.deed); why != "" {
				return f.giveUp(fmt.Sprintf("%s at event %d", why, d.op))
			}
			if len(f.configs) == 0 {
				return engineVerdict{at: int(e.deed), widest: f.widest}
			}
		}
	}
	return engineVerdict{legal: true, widest: f.widest}
}

func (f *frontier[S]) giveUp(why string) engineVerdict {
	return engineVerdict{gaveUp: why, widest: f.widest}
}

// settle leads every configuration on until deed x has taken effect, and drops those that can't.
func (f *frontier[S]) settle(x int32) (why string) {
	slot := f.pending.slotOf(x)
	s := settling[S]{f: f, x: &f.deeds[x], slot: slot}
	f.mapped = false
	for _, c := range f.configs {
		s.put(c)
	}
	for i := 0; i < len(s.work); i++ {
		s.lead(s.work[i])
		if len(s.work) > f.budget.configs {
			return fmt.Sprintf("more than %d configurations were possible", f.budget.configs)
		}
	}
	f.configs = f.fewest(s.out)
	f.widest = max(f.widest, len(f.configs))
	f.pending.remove(slot)
	f.returns++
	f.forget()
	if f.budget.bytes > 0 && f.bytes() > f.budget.bytes {
		return fmt.Sprintf("the general engine needed more than %d MiB", f.budget.bytes>>20)
	}
	return ""
}

// bytes is an estimate of what the engine holds.
func (f *frontier[S]) bytes() int { return 96*len(f.configs) + f.uses.bytes }

// settling is the work at one return.
type settling[S comparable] struct {
	f    *frontier[S]
	x    *deed
	slot int16
	work []config[S] // in which x has not taken effect
	out  []config[S] // in which it has; x is no longer marked
}

// put files a configuration, after the releases that can count have counted.
func (s *settling[S]) put(c config[S]) {
	if !c.done.has(s.slot) {
		s.f.hurry(&c)
	}
	if c.done.has(s.slot) {
		c.done.clear(s.slot)
		s.out = append(s.out, c)
		return
	}
	s.work = s.f.insert(s.work, c)
}

// lead takes c one effect further in every way that may matter.
func (s *settling[S]) lead(c config[S]) {
	f := s.f
	if state, ok := f.spec.step(c.state, s.x); ok {
		s.out = append(s.out, config[S]{state, c.done, c.used})
	}
	for slot := int16(0); slot < f.pending.high; slot++ {
		p := f.pending.at[slot]
		if p < 0 || slot == s.slot || c.done.has(slot) || f.ordered && !f.mayLoosen(&c, f.deeds[p].owner) {
			continue
		}
		if state, ok := f.spec.step(c.state, &f.deeds[p]); ok {
			d := config[S]{state, c.done, c.used}
			d.done.set(slot)
			s.put(d)
		}
	}
	for _, k := range f.wanted(&c) {
		s.use(c, k)
	}
}

// use lets an unknown deed of kind k take effect.
func (s *settling[S]) use(c config[S], k int32) {
	f := s.f
	if f.uses.count(c.used, k) >= f.kinds.all[k].known {
		return
	}
	if state, ok := f.spec.step(c.state, f.kinds.all[k].deed); ok && state != c.state {
		s.put(config[S]{state, c.done, f.uses.with(c.used, k)})
	}
}

// wanted are the kinds of unknown deeds that may matter to c: all releases, and the acquires of owners one of whose
// releases is pending and has not counted.
func (f *frontier[S]) wanted(c *config[S]) []int32 {
	if !f.ordered {
		return f.kinds.every
	}
	out := f.kinds.scratch[:0]
	out = append(out, f.kinds.releases...)
	for _, slot := range f.pending.releases {
		if !c.done.has(slot) {
			out = append(out, f.kinds.acquiresOf[f.deeds[f.pending.at[slot]].owner]...)
		}
	}
	f.kinds.scratch = out
	return slices.Clone(out)
}

// mayLoosen says whether an unknown release of owner is still to come in c: then the order of its deeds is open.
func (f *frontier[S]) mayLoosen(c *config[S], owner int32) bool {
	for _, k := range f.kinds.releasesOf[owner] {
		if f.uses.count(c.used, k) < f.kinds.all[k].known {
			return true
		}
	}
	return false
}

// hurry lets every pending release that can count do so, of owners whose order is not open.
func (f *frontier[S]) hurry(c *config[S]) {
	if !f.ordered {
		return
	}
	for _, slot := range f.pending.releases {
		d := &f.deeds[f.pending.at[slot]]
		if c.done.has(slot) || f.mayLoosen(c, d.owner) {
			continue
		}
		if state, ok := f.spec.step(c.state, d); ok && state != c.state {
			c.state = state
			c.done.set(slot)
		}
	}
}

// insert adds c unless one that used no more unknown deeds stands for it.
func (f *frontier[S]) insert(list []config[S], c config[S]) []config[S] {
	const few = 64
	if !f.mapped && len(list) < few {
		for i := range list {
			if list[i].state == c.state && list[i].done == c.done && f.uses.within(list[i].used, c.used) {
				return list
			}
		}
		return append(list, c)
	}
	if !f.mapped {
		f.mapped = true
		clear(f.seen)
		for _, x := range list {
			at := place[S]{x.state, x.done}
			f.seen[at] = append(f.seen[at], x.used)
		}
	}
	at := place[S]{c.state, c.done}
	for _, used := range f.seen[at] {
		if f.uses.within(used, c.used) {
			return list
		}
	}
	f.seen[at] = append(f.seen[at], c.used)
	return append(list, c)
}

// fewest drops the configurations for which another stands.
func (f *frontier[S]) fewest(all []config[S]) []config[S] {
	if len(all) > 1 {
		slices.SortStableFunc(all, func(a, b config[S]) int { return f.uses.size(a.used) - f.uses.size(b.used) })
	}
	f.mapped = false
	out := f.configs[:0:0]
	for _, c := range all {
		out = f.insert(out, c)
	}
	return out
}

// forget drops unknown deeds that every configuration has used.
func (f *frontier[S]) forget() {
	every := cmp.Or(f.budget.forget, 32)
	if !f.ordered || f.returns%every != 0 || len(f.configs) == 0 || len(f.kinds.releases) == 0 && f.uses.bytes < 1<<16 {
		return
	}
	for _, k := range f.kinds.inUse(f.uses, f.configs[0].used) {
		least := int32(1 << 30)
		for i := range f.configs {
			least = min(least, f.uses.count(f.configs[i].used, k))
		}
		if least == 0 {
			continue
		}
		for i := range f.configs {
			f.configs[i].used = f.uses.minus(f.configs[i].used, k, least)
		}
		f.kinds.all[k].known -= least
	}
	f.kinds.tidy()
	if f.uses.bytes > 1<<20 {
		f.compact()
	}
}

// compact rebuilds the table of uses from what is still referred to.
func (f *frontier[S]) compact() {
	fresh := newUseTable()
	for i := range f.configs {
		f.configs[i].used = fresh.intern(slices.Clone(f.uses.sets[f.configs[i].used]))
	}
	f.uses = fresh
}

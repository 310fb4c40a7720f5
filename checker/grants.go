package checker

import (
	"slices"
	"strconv"
	"time"

	"github.com/locktest/locktest/history"
)

// grant is all that belongs to one acquire, granted or not.
type grant struct {
	id         int // in the history; 0: not said
	lock       int32
	client     int32
	acq        int32 // its acquire; -1: the history has none
	from, to   int32 // its ops, in view.byGrant
	owner      int32 // what the service compares: the number of an owner
	crash      time.Duration
	crashEvent int32
	token      uint64
}

// group sorts ops by grant, then learns from them whose each grant is.
func (b *builder) group() {
	v := b.v
	counts := make([]int32, len(v.grants)+1)
	for i := range v.ops {
		if g := v.ops[i].grant; g >= 0 {
			counts[g+1]++
		}
	}
	for g := range v.grants {
		counts[g+1] += counts[g]
		v.grants[g].from, v.grants[g].to = counts[g], counts[g]
	}
	v.byGrant = make([]int32, counts[len(v.grants)])
	for i := range v.ops {
		if g := v.ops[i].grant; g >= 0 {
			b.join(&v.grants[g], int32(i))
		}
	}
	b.owners()
}

func (b *builder) join(g *grant, i int32) {
	o := &b.v.ops[i]
	b.v.byGrant[g.to] = i
	g.to++
	if o.act == acquire {
		g.acq = i
		if o.ans == okay {
			g.token = b.v.done(o).Token
		}
	}
}

// owners numbers the owners: one client's grants with the same value are one owner's. A grant whose value nobody told
// is taken for a fresh one, unless its client is known to use values again. Where the service compares nothing that
// the history names, a client's thread is the owner.
func (b *builder) owners() {
	v := b.v
	var all names
	values := make([]string, len(v.grants))
	last := map[int32]string{}
	reuses := map[int32]string{}
	for g := range v.grants {
		c := v.grants[g].client
		if values[g] = b.ownerValue(int32(g)); values[g] == "" {
			continue
		}
		if last[c] == values[g] {
			reuses[c] = values[g]
		}
		last[c] = values[g]
	}
	for g := range v.grants {
		v.grants[g].owner = all.number(b.ownerName(int32(g), values[g], last, reuses))
	}
}

func (b *builder) ownerValue(g int32) string {
	for _, i := range b.v.ofGrant(g) {
		o := &b.v.ops[i]
		if s := b.v.done(o).Owner; s != "" {
			return s
		}
		if s := b.v.called(o).Owner; s != "" {
			return s
		}
	}
	return ""
}

func (b *builder) ownerName(g int32, value string, last, reuses map[int32]string) string {
	gr := &b.v.grants[g]
	client := b.v.clients.text[gr.client]
	switch {
	case value != "":
	case reuses[gr.client] != "":
		value = reuses[gr.client]
	case last[gr.client] != "":
		return client + "\x00fresh" + strconv.Itoa(int(g))
	case gr.to > gr.from:
		return client + "\x00thread" + strconv.Itoa(int(b.v.ops[b.v.byGrant[gr.from]].thread))
	}
	return client + "\x00" + value
}

func (v *view) ofGrant(g int32) []int32 { return v.byGrant[v.grants[g].from:v.grants[g].to] }

// acquired returns the acquire by which g was certainly granted; nil where it was not.
func (v *view) acquired(g int32) *op {
	if a := v.grants[g].acq; a >= 0 && v.ops[a].ans == okay {
		return &v.ops[a]
	}
	return nil
}

// ttl is the lease that o asked for or was granted.
func (v *view) ttl(o *op, c *history.Contract) time.Duration {
	if t := v.done(o).TTL; t > 0 && o.ans == okay {
		return t
	}
	if t := v.called(o).TTL; t > 0 {
		return t
	}
	return c.TTL
}

func ascending(x []int) []int {
	slices.Sort(x)
	return slices.Compact(x)
}

package checker

import (
	"hash/maphash"
	"slices"
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
	told       int32 // the first event that tells the owner; -1: none
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
	t := newOwnerTable(b.v)
	tells := make([]bool, len(b.v.clients.text))   // clients that have a grant with a value
	reused := make([]int32, len(b.v.clients.text)) // one more than a grant whose value its client had used before
	for g := range b.v.grants {
		if b.v.grants[g].told < 0 {
			continue
		}
		c := b.v.grants[g].client
		if n, new := t.number(int32(g)); !new {
			reused[c] = int32(g) + 1
			b.v.grants[g].owner = n
		}
		tells[c] = true
	}
	threads := map[int32]int32{}
	for g := range b.v.grants {
		gr := &b.v.grants[g]
		if gr.owner >= 0 {
			continue
		}
		again := reused[gr.client]
		switch {
		case again > 0:
			gr.owner = b.v.grants[again-1].owner
		case tells[gr.client] || gr.from == gr.to:
			gr.owner = t.fresh()
		default:
			thread := b.v.ops[b.v.byGrant[gr.from]].thread
			n, seen := threads[thread]
			if !seen {
				n = t.fresh()
				threads[thread] = n
			}
			gr.owner = n
		}
	}
	b.v.shareOwners(int(t.next))
}

// shareOwners notes which owners have more than one grant.
func (v *view) shareOwners(owners int) {
	v.shared = make([]bool, owners)
	seen := make([]bool, owners)
	for g := range v.grants {
		own := v.grants[g].owner
		v.shared[own] = v.shared[own] || seen[own]
		seen[own] = true
	}
}

// ownerTable numbers owner values. Most are used once, so it keeps no text: only which grant told each first.
type ownerTable struct {
	v     *view
	seed  maphash.Seed
	slots []int32 // one more than a grant; 0: free
	next  int32
}

func newOwnerTable(v *view) *ownerTable {
	size := 64
	for size < 2*len(v.grants) {
		size *= 2
	}
	return &ownerTable{v: v, seed: maphash.MakeSeed(), slots: make([]int32, size)}
}

func (t *ownerTable) fresh() int32 {
	t.next++
	return t.next - 1
}

// number returns g's owner, and sets it where the value is a new one of g's client.
func (t *ownerTable) number(g int32) (owner int32, new bool) {
	gr := &t.v.grants[g]
	value := t.v.ownerValue(g)
	at := maphash.String(t.seed, value) + uint64(gr.client)*0x9e3779b97f4a7c15
	for mask := uint64(len(t.slots) - 1); ; at++ {
		slot := &t.slots[at&mask]
		if *slot == 0 {
			*slot = g + 1
			gr.owner = t.fresh()
			return gr.owner, true
		}
		if x := &t.v.grants[*slot-1]; x.client == gr.client && t.v.ownerValue(*slot-1) == value {
			return x.owner, false
		}
	}
}

// ownerValue is what the service compares, as the first event that tells it says; empty: none does.
func (v *view) ownerValue(g int32) string {
	if e := v.grants[g].told; e >= 0 {
		return v.h.Ops[e].Owner
	}
	return ""
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

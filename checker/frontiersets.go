package checker

import (
	"encoding/binary"
	"slices"
)

// maxPending is how many definite deeds may be open at once.
const maxPending = 128

// pendingBits is a set of places of pending deeds.
type pendingBits [maxPending / 64]uint64

func (b *pendingBits) has(slot int16) bool { return b[slot>>6]>>(uint(slot)&63)&1 != 0 }

func (b *pendingBits) set(slot int16) { b[slot>>6] |= 1 << (uint(slot) & 63) }

func (b *pendingBits) clear(slot int16) { b[slot>>6] &^= 1 << (uint(slot) & 63) }

// pendingSet gives pending deeds a place each.
type pendingSet struct {
	at       [maxPending]int32 // the deed in each place; -1: free
	free     []int16
	high     int16 // no place from here on is taken
	places   map[int32]int16
	releases []int16 // the places of releases that are to take effect
}

func newPendingSet() pendingSet {
	p := pendingSet{places: map[int32]int16{}}
	for i := range p.at {
		p.at[i] = -1
		p.free = append(p.free, int16(maxPending-1-i))
	}
	return p
}

func (p *pendingSet) add(i int32, d *deed) bool {
	if len(p.free) == 0 {
		return false
	}
	slot := p.free[len(p.free)-1]
	p.free = p.free[:len(p.free)-1]
	p.at[slot], p.places[i] = i, slot
	p.high = max(p.high, slot+1)
	if d.act == release && d.ans != notHeld {
		p.releases = append(p.releases, slot)
	}
	return true
}

func (p *pendingSet) slotOf(i int32) int16 { return p.places[i] }

func (p *pendingSet) remove(slot int16) {
	delete(p.places, p.at[slot])
	p.at[slot] = -1
	p.free = append(p.free, slot)
	if k := slices.Index(p.releases, slot); k >= 0 {
		p.releases = slices.Delete(p.releases, k, k+1)
	}
	for p.high > 0 && p.at[p.high-1] < 0 {
		p.high--
	}
}

// kind is unknown deeds that can't be told apart: of one owner, alike in what they would do.
type kind struct {
	deed  *deed // one of them
	known int32 // how many there are, less those that every configuration has used
}

type kindKey struct {
	owner  int32
	weight int32
	act    act
	shared bool
}

// kindTable is the unknown deeds so far.
type kindTable struct {
	all        []kind
	of         map[kindKey]int32
	every      []int32
	releases   []int32 // kinds of releases of which some are left
	releasesOf map[int32][]int32
	acquiresOf map[int32][]int32
	scratch    []int32
}

func newKindTable() kindTable {
	return kindTable{of: map[kindKey]int32{}, releasesOf: map[int32][]int32{}, acquiresOf: map[int32][]int32{}}
}

func (t *kindTable) add(d *deed) {
	key := kindKey{d.owner, d.weight, d.act, d.shared}
	k, seen := t.of[key]
	if !seen {
		k = int32(len(t.all))
		t.of[key] = k
		t.all = append(t.all, kind{deed: d})
		t.every = append(t.every, k)
		if d.act == release {
			t.releasesOf[d.owner] = append(t.releasesOf[d.owner], k)
		} else {
			t.acquiresOf[d.owner] = append(t.acquiresOf[d.owner], k)
		}
	}
	if d.act == release && t.all[k].known == 0 {
		t.releases = append(t.releases, k)
	}
	t.all[k].known++
}

// inUse are the kinds of which the set used has some.
func (t *kindTable) inUse(u *useTable, used int32) []int32 {
	var out []int32
	for _, x := range u.sets[used] {
		out = append(out, x.kind)
	}
	return out
}

// tidy drops the kinds of releases that are used up.
func (t *kindTable) tidy() {
	t.releases = slices.DeleteFunc(t.releases, func(k int32) bool { return t.all[k].known == 0 })
}

// use is how many unknown deeds of a kind were used.
type use struct{ kind, count int32 }

// useTable numbers multisets of used unknown deeds; 0 is the empty one. A set is sorted by kind.
type useTable struct {
	sets  [][]use
	of    map[string]int32
	next  map[use]int32 // by set and kind: that set with one more
	bytes int
}

func newUseTable() *useTable {
	return &useTable{sets: [][]use{nil}, of: map[string]int32{"": 0}, next: map[use]int32{}}
}

func (u *useTable) size(set int32) int {
	n := 0
	for _, x := range u.sets[set] {
		n += int(x.count)
	}
	return n
}

func (u *useTable) count(set, kind int32) int32 {
	for _, x := range u.sets[set] {
		if x.kind == kind {
			return x.count
		}
	}
	return 0
}

func (u *useTable) with(set, kind int32) int32 {
	key := use{set, kind}
	if s, known := u.next[key]; known {
		return s
	}
	s := u.intern(changed(u.sets[set], kind, 1))
	u.next[key] = s
	u.bytes += 24
	return s
}

func (u *useTable) minus(set, kind, n int32) int32 { return u.intern(changed(u.sets[set], kind, -n)) }

// changed is set with by more of kind.
func changed(set []use, kind, by int32) []use {
	k, there := slices.BinarySearchFunc(set, kind, func(x use, kind int32) int { return int(x.kind - kind) })
	out := slices.Clone(set)
	if !there {
		return slices.Insert(out, k, use{kind, by})
	}
	if out[k].count += by; out[k].count == 0 {
		out = slices.Delete(out, k, k+1)
	}
	return out
}

func (u *useTable) intern(set []use) int32 {
	key := make([]byte, 0, 8*len(set))
	for _, x := range set {
		key = binary.LittleEndian.AppendUint32(key, uint32(x.kind))
		key = binary.LittleEndian.AppendUint32(key, uint32(x.count))
	}
	if s, known := u.of[string(key)]; known {
		return s
	}
	s := int32(len(u.sets))
	u.sets = append(u.sets, set)
	u.of[string(key)] = s
	u.bytes += 96 + 16*len(set)
	return s
}

// within says whether a has no more of any kind than b.
func (u *useTable) within(a, b int32) bool {
	if a == b || a == 0 {
		return true
	}
	have := u.sets[b]
	for _, x := range u.sets[a] {
		for len(have) > 0 && have[0].kind < x.kind {
			have = have[1:]
		}
		if len(have) == 0 || have[0].kind != x.kind || have[0].count < x.count {
			return false
		}
	}
	return true
}

package checker

import (
	"slices"

	"github.com/anishathalye/porcupine"
)

// Sequential specifications of each lock, for Porcupine on histories as they are: an unknown operation takes effect if
// it can, or not at all; with no return it can always be put last, so this is exact.

// inside is who holds a lock, sorted by owner.
type inside struct {
	holders []holder
	token   uint64
}

type holder struct {
	owner  int32
	depth  int
	weight int32
	shared bool
}

func (d *dice) porcupine() porcupine.Model {
	return porcupine.Model{
		Init:  func() any { return inside{} },
		Step:  func(state, input, _ any) (bool, any) { return d.step(state.(inside), input.(*small)) },
		Equal: func(a, b any) bool { return same(a.(inside), b.(inside)) },
		Hash:  func(s any) uint64 { return hashed(s.(inside)) },
	}
}

func same(a, b inside) bool { return a.token == b.token && slices.Equal(a.holders, b.holders) }

func hashed(s inside) uint64 {
	x := s.token
	for _, h := range s.holders {
		x = scatter(x, uint64(h.owner)<<8|uint64(h.depth))
	}
	return x
}

func (d *dice) step(s inside, o *small) (bool, inside) {
	k, held := slices.BinarySearchFunc(s.holders, o.owner, func(h holder, owner int32) int { return int(h.owner - owner) })
	if o.act == acquire {
		return d.enter(s, o, k, held)
	}
	switch {
	case o.ans == notHeld:
		return !held, s
	case !held:
		return o.ans == unknown || o.ans == gone, s
	}
	s.holders = slices.Clone(s.holders)
	if s.holders[k].depth--; s.holders[k].depth == 0 {
		s.holders = slices.Delete(s.holders, k, k+1)
	}
	return true, s
}

func (d *dice) enter(s inside, o *small, k int, held bool) (bool, inside) {
	fits := !held && len(s.holders) == 0
	switch d.model {
	case "semaphore":
		used := o.weight
		for _, h := range s.holders {
			used += h.weight
		}
		fits = !held && used <= d.permits
	case "rw":
		fits = !held && (len(s.holders) == 0 || o.shared && s.holders[0].shared)
	case "re-entrant":
		fits = len(s.holders) == 0 || held && s.holders[k].depth < d.limit
	}
	if !fits {
		return o.ans == unknown, s
	}
	if d.model == "fenced" && o.ans == okay {
		if o.token <= s.token {
			return false, s
		}
		s.token = o.token
	}
	s.holders = slices.Clone(s.holders)
	if held {
		s.holders[k].depth++
	} else {
		s.holders = slices.Insert(s.holders, k, holder{o.owner, 1, o.weight, o.shared})
	}
	return true, s
}

// legalByPorcupine is the verdict on the history as it is.
func (d *dice) legalByPorcupine(ops []small) bool {
	all := make([]porcupine.Operation, len(ops))
	for i := range ops {
		all[i] = porcupine.Operation{ClientId: int(ops[i].owner), Input: &ops[i], Call: ops[i].call, Return: ops[i].ret}
	}
	return porcupine.CheckOperations(d.porcupine(), all)
}

package checker

import (
	"math"
	"time"

	"github.com/anishathalye/porcupine"
)

// decide asks Porcupine. Empty: it did not come to an end in time.
func (q *question) decide(within time.Duration) string {
	ops := make([]porcupine.Operation, len(q.Moves))
	for i := range q.Moves {
		m := &q.Moves[i]
		ops[i] = porcupine.Operation{ClientId: int(m.Owner), Input: m, Call: m.Call, Return: m.Return}
	}
	switch porcupine.CheckOperationsTimeout(q.model(), ops, within) {
	case porcupine.Ok:
		return legal
	case porcupine.Illegal:
		return illegal
	}
	return ""
}

func (q *question) model() porcupine.Model {
	switch q.Model {
	case ModelMutex, ModelBelief:
		return mutexModel(false)
	case ModelFencedMutex:
		return mutexModel(true)
	case ModelRegister:
		return registerModel(false)
	case ModelFencedRegister:
		return registerModel(true)
	}
	panic("checker: no model is called " + q.Model)
}

// free marks a lock that nobody holds.
const nobody = math.MinInt32

// locked is a mutex: who holds it, and the highest token that was granted.
type locked struct {
	owner int32
	token uint64
}

// mutexModel is a mutex that knows its owner. Fenced, the tokens of grants rise; a grant that tells none fits any.
func mutexModel(fenced bool) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return locked{owner: nobody} },
		Step: func(state, input, _ any) (bool, any) {
			s, m := state.(locked), input.(*move)
			if m.Kind == release {
				return s.owner == m.Owner, locked{nobody, s.token}
			}
			if s.owner != nobody || fenced && m.Token != 0 && m.Token <= s.token {
				return false, s
			}
			if fenced && m.Token != 0 {
				s.token = m.Token
			}
			return true, locked{m.Owner, s.token}
		},
		Equal: func(a, b any) bool { return a == b },
		Hash:  func(state any) uint64 { return scatter(uint64(state.(locked).owner), state.(locked).token) },
	}
}

// stored is a register: its version, and the highest token that it has seen.
type stored struct {
	value int64
	mark  uint64
}

// registerModel is a register of versions. Fenced, it refuses tokens below the highest that it has seen, on reads too;
// so one that was accepted has none below. An unknown write takes effect if it can, or not at all.
func registerModel(fenced bool) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return stored{} },
		Step: func(state, input, _ any) (bool, any) {
			s, m := state.(stored), input.(*move)
			if fenced && m.Token != 0 {
				if m.Token < s.mark {
					return m.Unknown, s
				}
				s.mark = m.Token
			}
			if m.Kind == write {
				s.value = m.Value
				return true, s
			}
			return s.value == m.Value, s
		},
		Equal: func(a, b any) bool { return a == b },
		Hash:  func(state any) uint64 { return scatter(uint64(state.(stored).value), state.(stored).mark) },
	}
}

func scatter(a, b uint64) uint64 {
	x := (a+1)*0x9e3779b97f4a7c15 ^ b
	x ^= x >> 32
	return x * 0xff51afd7ed558ccd
}

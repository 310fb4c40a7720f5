package checker

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/locktest/locktest/history"
)

// Models that Porcupine decides.
const (
	ModelMutex          = "mutex"
	ModelFencedMutex    = "fenced mutex"
	ModelBelief         = "belief exclusion"
	ModelRegister       = "register"
	ModelFencedRegister = "fenced register"
)

// Limits bound a cross-check. Zero fields take their defaults.
type Limits struct {
	Time       time.Duration // for all questions together; default 10 s
	Memory     uint64        // bytes of heap in use, where a process of its own does it; default 1 GiB
	Operations int           // a question with more is not asked; default 20 000
}

func (l Limits) filled() Limits {
	if l.Time == 0 {
		l.Time = 10 * time.Second
	}
	if l.Memory == 0 {
		l.Memory = 1 << 30
	}
	if l.Operations == 0 {
		l.Operations = 20_000
	}
	return l
}

// CrossCheck asks Porcupine, in this process, for a second verdict on each lock and resource. The history is pruned
// first: unknown acquires that nothing needs are left out and unknown releases count from their call, so that hardly
// anything is left to search. Its error says that h breaks the rules of recording.
func CrossCheck(ctx context.Context, h *history.History, limits Limits) ([]Agreement, error) {
	qs, err := questions(ctx, h)
	if err != nil {
		return nil, err
	}
	limits = limits.filled()
	end := time.Now().Add(limits.Time)
	out := make([]Agreement, len(qs))
	for i := range qs {
		out[i] = qs[i].ask(ctx, end, limits)
	}
	return out, nil
}

// question is one thing to decide, small enough to be sent to another process.
type question struct {
	Lock     string `json:"lock,omitempty"`
	Resource string `json:"resource,omitempty"`
	Model    string `json:"model"`
	Sweep    string `json:"sweep"`
	Moves    []move `json:"moves"`
}

// move is one operation of a pruned history.
type move struct {
	Owner   int32  `json:"o,omitempty"`
	Kind    act    `json:"k,omitempty"`
	Token   uint64 `json:"t,omitempty"`
	Value   int64  `json:"v,omitempty"`
	Call    int64  `json:"c"`
	Return  int64  `json:"r"`
	Unknown bool   `json:"u,omitempty"`
}

// Answers of an engine.
const (
	legal   = "legal"
	illegal = "illegal"
)

func (q *question) blank() Agreement {
	name := q.Lock
	if name == "" {
		name = q.Resource
	}
	return Agreement{Lock: name, Model: q.Model, Engine: "porcupine", Sweep: q.Sweep}
}

// ask gives up at end.
func (q *question) ask(ctx context.Context, end time.Time, limits Limits) Agreement {
	a := q.blank()
	switch left := time.Until(end); {
	case len(q.Moves) > limits.Operations:
		a.Because = fmt.Sprintf("there were %s operations, over the limit of %s", grouped(len(q.Moves)), grouped(limits.Operations))
	case ctx.Err() != nil:
		a.Because = "checking was stopped"
	case left <= 0:
		a.Because = fmt.Sprintf("the time for it, %s, was over", limits.Time)
	default:
		if a.Answer = q.decide(left); a.Answer == "" {
			a.Because = fmt.Sprintf("it did not come to an end in the time for it, %s", limits.Time)
		}
		a.Agrees = a.Answer == a.Sweep
	}
	return a
}

func answerWord(bad bool) string {
	if bad {
		return illegal
	}
	return legal
}

// questions prunes h to what is to be decided.
func questions(ctx context.Context, h *history.History) ([]question, error) {
	v, err := newView(h)
	if err != nil {
		return nil, err
	}
	var qs []question
	for i := range v.locks {
		l := &v.locks[i]
		if noExclusion(&l.contract) != "" {
			continue
		}
		q := question{Lock: l.name}
		switch {
		case strictLock(l):
			v.askMutex(&q, l)
		case l.contract.Reentry > 0:
			continue // its beliefs are meant to overlap where they are one holder's
		case onlyProved(l, l.tenures()):
			v.askProved(&q, l)
		default:
			v.askBelief(ctx, &q, l)
		}
		qs = append(qs, q)
	}
	for i := range v.things {
		if q, ok := v.askRegister(&v.things[i]); ok {
			qs = append(qs, q)
		}
	}
	return qs, nil
}

// askMutex turns certain holds back into operations.
func (v *view) askMutex(q *question, l *lockView) {
	q.Model = ModelMutex
	n := l.holds()
	fenced := l.contract.Tokens == history.PerGrant && l.contract.Reentry == 0
	for i := range n.holds {
		h := &n.holds[i]
		fenced = fenced && (h.float || v.grantedToken(h.acq) != 0)
		q.Moves = append(q.Moves, v.holdMoves(h, int32(i))...)
	}
	bad := len(sweepMutex(n.holds)) > 0
	for _, b := range n.breaches {
		if b.kind == secondGrant {
			bad = true
			o := &v.ops[b.ops[len(b.ops)-1]]
			q.Moves = append(q.Moves, move{Owner: -1, Kind: acquire, Call: int64(o.call), Return: int64(o.ret), Token: v.grants[o.grant].token})
		}
	}
	if fenced {
		q.Model = ModelFencedMutex
		bad = bad || v.tokensDisagree(l, n)
	}
	q.Sweep = answerWord(bad)
}

// askProved turns what answers prove of leases without a known length into operations. From the last proof on each may
// have ended.
func (v *view) askProved(q *question, l *lockView) {
	q.Model = ModelMutex
	holds := v.provedHolds(l, l.tenures())
	for i := range holds {
		q.Moves = append(q.Moves, v.holdMoves(&holds[i], int32(i))...)
	}
	q.Sweep = answerWord(len(sweepMutex(holds)) > 0)
}

// holdMoves gives each hold an owner of its own, number.
func (v *view) holdMoves(h *hold, number int32) []move {
	a := move{Owner: number, Kind: acquire, Call: int64(v.ops[h.acq].call), Return: int64(h.ac), Token: v.grantedToken(h.acq)}
	if h.float {
		a.Return = int64(h.rc)
	}
	if h.ri == forever {
		return []move{a}
	}
	r := move{Owner: number, Kind: release, Call: int64(h.ri), Return: int64(h.rc)}
	if h.rc == forever {
		r.Return = r.Call // it counts from its call
	}
	return []move{a, r}
}

// tokensDisagree says whether the tokens of n's holds contradict their order.
func (v *view) tokensDisagree(l *lockView, n *normaliser) bool {
	certain := v.ofGrants(l)
	for i := range n.holds {
		certain.set(v.ops[n.holds[i].acq].grant, 1)
	}
	r := newRuling()
	fs := slices.DeleteFunc(v.fenced(l, newRuling()), func(f fenced) bool { return certain.get(f.grant) == 0 })
	tokenReuse(v, l, fs, r)
	tokenOrder(v, l, fs, r)
	return len(r.findings) > 0
}

// askBelief turns each time in which a grant was in force into an acquire and a synthetic release, both of no length.
func (v *view) askBelief(ctx context.Context, q *question, l *lockView) {
	q.Model = ModelBelief
	session := l.contract.Expiry == history.Session
	owner := int32(0)
	for _, t := range l.tenures() {
		spans := []span{{t.ac, min(t.stop, v.end)}}
		if !session {
			spans = spans[:0]
			for _, p := range t.pieces {
				spans = append(spans, span{p.from, p.end()})
			}
			spans = union(spans)
		}
		for _, s := range spans {
			if s.to <= s.from {
				continue
			}
			q.Moves = append(q.Moves,
				move{Owner: owner, Kind: acquire, Call: int64(s.from), Return: int64(s.from)},
				move{Owner: owner, Kind: release, Call: int64(s.to), Return: int64(s.to)})
			owner++
		}
	}
	bad := false
	for _, f := range leaseExclusion(ctx, v, l).findings {
		bad = bad || f.Kind == DoubleGrant || session
	}
	q.Sweep = answerWord(bad)
}

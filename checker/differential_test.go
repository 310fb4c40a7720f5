package checker

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
)

// LOCKTEST_FUZZ is how many histories are drawn for each model, LOCKTEST_SEED where that begins.
func fuzzCount(t *testing.T) (n int, seed uint64) {
	n, seed = 5_000, 1
	if testing.Short() {
		n = 1_000
	}
	if s := os.Getenv("LOCKTEST_FUZZ"); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil {
			t.Fatalf("LOCKTEST_FUZZ: %v", err)
		}
	}
	if s := os.Getenv("LOCKTEST_SEED"); s != "" {
		var err error
		if seed, err = strconv.ParseUint(s, 10, 64); err != nil {
			t.Fatalf("LOCKTEST_SEED: %v", err)
		}
	}
	return n, seed
}

// campaigns are the models, each with fresh and with reused owners.
func campaigns() map[string]dice {
	return map[string]dice{
		"mutex":              {model: "mutex", limit: 1, owners: 4, ops: 9, unknown: 0.15},
		"mutex reuse":        {model: "mutex", limit: 1, owners: 4, ops: 9, unknown: 0.15, reuse: true},
		"mutex reuse30":      {model: "mutex", limit: 1, owners: 3, ops: 12, unknown: 0.3, reuse: true},
		"fenced":             {model: "fenced", limit: 1, owners: 4, ops: 9, unknown: 0.15},
		"fenced reuse":       {model: "fenced", limit: 1, owners: 4, ops: 9, unknown: 0.25, reuse: true},
		"mutex gone":         {model: "mutex", limit: 1, owners: 4, ops: 9, unknown: 0.2, gone: true},
		"mutex gone reuse":   {model: "mutex", limit: 1, owners: 4, ops: 10, unknown: 0.2, gone: true, reuse: true},
		"re-entrant gone":    {model: "re-entrant", limit: 2, owners: 4, ops: 11, unknown: 0.15, gone: true},
		"semaphore":          {model: "semaphore", limit: 1, permits: 2, owners: 4, ops: 11, unknown: 0.15},
		"semaphore reuse":    {model: "semaphore", limit: 1, permits: 2, owners: 4, ops: 12, unknown: 0.15, reuse: true},
		"weights":            {model: "semaphore", limit: 1, permits: 3, weights: 3, owners: 4, ops: 12, unknown: 0.15},
		"weights reuse":      {model: "semaphore", limit: 1, permits: 3, weights: 3, owners: 5, ops: 13, unknown: 0.15, reuse: true},
		"read-write":         {model: "rw", limit: 1, owners: 4, ops: 9, unknown: 0.15},
		"read-write reuse":   {model: "rw", limit: 1, owners: 4, ops: 11, unknown: 0.15, reuse: true},
		"re-entrant":         {model: "re-entrant", limit: 2, owners: 4, ops: 11, unknown: 0.15},
		"re-entrant reuse":   {model: "re-entrant", limit: 2, owners: 4, ops: 12, unknown: 0.15, reuse: true},
		"re-entrant 3 reuse": {model: "re-entrant", limit: 3, owners: 4, ops: 14, unknown: 0.2, reuse: true},
	}
}

// TestSweepAgainstPorcupine draws histories and compares: where no owner is open the verdicts must be the same, and
// nowhere may the sweep report a history that is legal.
func TestSweepAgainstPorcupine(t *testing.T) {
	n, seed := fuzzCount(t)
	for name, d := range campaigns() {
		t.Run(name, func(t *testing.T) {
			var s score
			for i := range n {
				r := rand.New(rand.NewPCG(seed, uint64(i)))
				s.compare(t, &d, d.draw(r), fmt.Sprintf("seed %d/%d", seed, i))
			}
			t.Log(s.String())
			if !d.reuse && s.exact*1000 < s.all*s.least(&d) {
				t.Errorf("too few are in the exact class: %s", s.String())
			}
			if s.legal == 0 || s.illegal == 0 || s.exact < s.all/3 {
				t.Errorf("the campaign tested too little: %s", s.String())
			}
		})
	}
}

type score struct{ all, legal, illegal, exact, open, openIllegal, openCaught int }

// least is the share, of a thousand, of histories with fresh owners that the sweep must decide alone. Only an unknown
// acquire of another mode than the hold that it is nested in keeps it from that.
func (s *score) least(d *dice) int {
	if d.model == "rw" {
		return 950
	}
	return 1000
}

func (s *score) String() string {
	return fmt.Sprintf("%d histories: %d illegal, %d in the exact class; of %d illegal ones outside, %d reported", s.all, s.illegal, s.exact, s.openIllegal, s.openCaught)
}

func (s *score) compare(t *testing.T, d *dice, ops []small, place string) {
	if len(ops) == 0 {
		return
	}
	legal := d.legalByPorcupine(ops)
	bad, open := d.sweep(t, ops)
	s.all++
	if legal {
		s.legal++
	} else {
		s.illegal++
	}
	switch {
	case open && !legal:
		s.openIllegal++
		if bad {
			s.openCaught++
		}
	case !open:
		s.exact++
	}
	if bad && legal || !open && bad == legal {
		t.Errorf("%s: Porcupine says legal=%v, the sweep reports=%v (open=%v):\n%s", place, legal, bad, open, spell(ops))
	}
}

// sweep says whether the sweep reports the history, and whether an owner of it is open.
func (d *dice) sweep(t *testing.T, ops []small) (bad, open bool) {
	v, err := newView(d.history(ops))
	if err != nil {
		t.Fatalf("%v\n%s", err, spell(ops))
	}
	if len(v.locks) == 0 {
		return false, false
	}
	l := &v.locks[0]
	n := l.holds()
	bad = len(n.breaches) > 0
	switch d.model {
	case "semaphore":
		return bad || len(sweepPermits(n.holds, int64(d.permits))) > 0, n.open > 0
	case "rw":
		return bad || len(sweepReadWrite(n.holds)) > 0, n.open > 0
	case "fenced":
		bad = bad || v.tokensDisagree(l, n)
	}
	return bad || len(sweepMutex(n.holds)) > 0, n.open > 0
}

// spell writes a history in the text form.
func spell(ops []small) string {
	var b strings.Builder
	for _, o := range ops {
		word := map[act]string{acquire: "A", release: "R"}[o.act]
		if o.ans == notHeld {
			word = "N"
		} else if o.ans == gone {
			word = "G"
		}
		if o.shared {
			word = "r" + word
		}
		ret := strconv.FormatInt(o.ret, 10)
		if o.ans == unknown {
			ret = "?"
		}
		fmt.Fprintf(&b, "%c:%s[%d,%s]tok=%d,permits=%d ", 'a'+o.owner, word, o.call, ret, o.token, o.weight)
	}
	return b.String()
}

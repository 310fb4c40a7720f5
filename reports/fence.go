package reports

import (
	"fmt"
	"time"

	"github.com/locktest/locktest/checker"
	"github.com/locktest/locktest/history"
)

// fence answers whether a token check would have kept the harm away. Empty: the question makes no sense here.
func (s *Story) fence() string {
	var answer string
	unreliable := s.scene.tokensRepeat()
	for n, f := range s.scene.i.Findings {
		if s.scene.i.Of[n] == checker.Fencing {
			return ""
		}
		if token := s.refusedToken(); token != 0 && s.scene.i.Of[n] == checker.MutualExclusion {
			answer = fmt.Sprintf("It did: the resource refused token %d.", token)
		}
		switch {
		case f.Fenced == "yes" && unreliable != "":
			return "Not reliably: " + unreliable
		case f.Fenced == "yes":
			return "Yes: " + s.refusal()
		case f.Fenced == "no" && f.Resource != "" && s.scene.h.Header.Resource(f.Resource).Check == history.ChecksToken:
			answer = "No: this resource checks tokens, and it happened all the same."
		case f.Fenced == "no":
			answer = "No: a token check lets this pass as well."
		case f.Fenced == "no tokens":
			answer = "No: this lock gives no tokens that a resource could check."
		case f.Fenced != "":
			answer = "It is " + sentence(f.Fenced)
		}
	}
	return answer
}

// refusedToken is that of a late write that a token check kept out; 0: there was none.
func (s *Story) refusedToken() uint64 {
	for _, st := range s.scene.steps {
		if op := st.filled(); s.scene.fenced(op) {
			return op.Token
		}
	}
	return 0
}

func (s *Story) refusal() string {
	for _, st := range s.scene.steps {
		op := st.filled()
		if s.scene.stale(op) {
			return fmt.Sprintf("the resource would have refused token %d.", op.Token)
		}
	}
	return "the resource would have refused the older token."
}

// tokensRepeat says that tokens of a lock of this incident were used again or went back, as they do where its store lost
// its state: then a check of tokens cannot be relied on. Empty: they did not.
func (s *scene) tokensRepeat() string {
	type mark struct {
		token  uint64
		client string
		at     time.Duration
	}
	var top mark
	var waiting []mark // answered, but maybe not before the next acquire was sent
	for _, st := range pairs(s.h) {
		if st.call.F != history.Acquire || st.end == nil || st.end.Type != history.OK || st.end.Token == 0 || len(s.grants) == 0 || st.call.Lock != s.grants[0].lock {
			continue
		}
		if s.h.Header.Contract(st.call.Lock).Tokens != history.PerGrant {
			return ""
		}
		kept := waiting[:0]
		for _, m := range waiting {
			if m.at >= st.call.Time {
				kept = append(kept, m)
			} else if m.token > top.token {
				top = m
			}
		}
		waiting = append(kept, mark{st.end.Token, st.end.Client, st.end.Time})
		if st.end.Token <= top.token {
			return fmt.Sprintf("tokens of this lock repeat or go back: %d at %s, after %d at %s.", st.end.Token, at(st.end.Time), top.token, at(top.at))
		}
	}
	return ""
}

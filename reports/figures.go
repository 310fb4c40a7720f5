package reports

import (
	"fmt"
	"time"

	"github.com/locktest/locktest/history"
	"github.com/locktest/locktest/runner"
)

func (s *screen) metrics() {
	all := s.o.Metrics.All
	if all.Acquire.N == 0 {
		return
	}
	text := fmt.Sprintf("acquire p50 %s, p99 %s, max %s", short(all.Acquire.P50), short(all.Acquire.P99), short(all.Acquire.Max))
	if all.Handover.N > 0 {
		text += fmt.Sprintf("; handover p99 %s", short(all.Handover.P99))
	}
	s.wrapped("  ", text+fmt.Sprintf("; %.3g grants/s", all.Throughput))
	s.figures = true
}

// cautions says what a reader must know to weigh the verdict.
func (s *screen) cautions() {
	var lines []string
	lines = append(lines, agreement(s.o.CrossCheck, s.storied())...)
	if s.o.Kind == "embedded" && !s.o.Real {
		lines = append(lines, "The servers were embedded ones, in this process: less real than those that you run"+reason(s.o.KindWhy)+".")
	}
	if n, worst := stalls(s.o.History); n > 0 {
		lines = append(lines, fmt.Sprintf("The host stalled %s, for up to %s.", times(n), long(worst)))
	}
	if text := strayClock(s.o.History); text != "" {
		lines = append(lines, text)
	}
	if text := untested(s.o.History); text != "" && !s.storied() {
		lines = append(lines, text)
	}
	if w := s.o.Conclusion.Word; !disputed(s.o) && (w == runner.WordNone || w == runner.WordAccepted) {
		lines = append(lines, "This is evidence, not proof.")
	}
	for _, l := range lines {
		s.wrapped("  ", l)
	}
	if len(lines) > 0 || s.figures {
		s.blank()
	}
}

func reason(why string) string {
	if why == "" {
		return ""
	}
	return " (" + clean(why) + ")"
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return grouped(n) + " times"
}

func stalls(h *history.History) (n int, worst time.Duration) {
	if h == nil {
		return 0, 0
	}
	for i := range h.Ops {
		if op := &h.Ops[i]; op.Type == history.HostStall {
			n, worst = n+1, max(worst, op.TTL)
		}
	}
	return n, worst
}

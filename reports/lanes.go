package reports

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/locktest/locktest/history"
)

// lanes draws the incident: a lane for each client and resource, in real time. It returns nothing where there is nothing
// to see, such as a single moment.
func (s *Story) lanes() []string {
	c := s.canvas()
	if c == nil {
		return nil
	}
	out := []string{c.axis()}
	for _, client := range s.scene.clients() {
		out = append(out, s.clientLane(c, client))
		out = append(out, s.faultLanes(c, client)...)
	}
	for _, f := range s.scene.faults {
		if !slices.ContainsFunc(f.targets, func(t string) bool { return slices.Contains(s.scene.clients(), t) }) {
			out = append(out, c.faultLane(f))
		}
	}
	for _, r := range s.resources() {
		out = append(out, s.resourceLane(c, r))
	}
	return append(out, c.legend()...)
}

// canvas maps times to columns.
type canvas struct {
	from, to time.Duration
	label    int
	width    int
	used     map[rune]bool
	leases   bool // grants have leases
}

func (s *Story) canvas() *canvas {
	from, to, leases := s.scene.from, s.scene.to, false
	for _, g := range s.scene.grants {
		from = min(from, g.asked)
		if g.granted != never && g.leaseEnd != never {
			leases = true
			to = max(to, min(g.leaseEnd, s.scene.to+(s.scene.to-from)/4))
		}
	}
	if to <= from {
		return nil
	}
	margin := (to - from) / 10
	c := &canvas{from: max(0, from-margin), to: to + margin, label: s.nameWidth(), used: map[rune]bool{}, leases: leases}
	for _, r := range s.resources() {
		c.label = min(max(c.label, len([]rune(r))), 12)
	}
	c.width = s.style.width() - c.label - 4
	return c
}

func (c *canvas) x(t time.Duration) int {
	f := float64(t-c.from) / float64(c.to-c.from) * float64(c.width-1)
	return int(math.Round(min(max(f, 0), float64(c.width-1))))
}

func (c *canvas) row() []rune { return []rune(strings.Repeat(" ", c.width)) }

func (c *canvas) fill(row []rune, from, to int, r rune) {
	for i := max(from, 0); i <= to && i < len(row); i++ {
		row[i] = r
	}
	if to >= from {
		c.used[r] = true
	}
}

func (c *canvas) put(row []rune, x int, text string) {
	for i, r := range []rune(text) {
		if x+i >= 0 && x+i < len(row) {
			row[x+i] = r
		}
	}
}

func (c *canvas) lane(label string, row []rune) string {
	runes := []rune(clean(label))
	if len(runes) > c.label {
		runes = append(runes[:c.label-1], '…')
	}
	return strings.TrimRight(pad(string(runes), c.label)+"  "+string(row), " ")
}

// axis marks moments at round distances.
func (c *canvas) axis() string {
	row := c.row()
	step := c.step()
	digits := max(0, int(-math.Floor(math.Log10(step.Seconds())+1e-9)))
	for t := (c.from + step - 1) / step * step; t <= c.to; t += step {
		text := strconv.FormatFloat(t.Seconds(), 'f', digits, 64)
		if x := c.x(t); x+len(text) <= c.width {
			c.put(row, x, text)
		}
	}
	return c.lane("", row)
}

// step is the smallest of 1, 2, 5, 10 … that leaves ten columns for each mark.
func (c *canvas) step() time.Duration {
	least := float64(c.to-c.from) / float64(c.width) * 10
	for scale := 1.0; ; scale *= 10 {
		for _, m := range []float64{1, 2, 5} {
			if m*scale >= least {
				return time.Duration(m * scale)
			}
		}
	}
}

func (s *Story) clientLane(c *canvas, client string) string {
	row := c.row()
	for _, g := range s.scene.grants {
		if g.client == client {
			s.hold(c, row, g)
		}
	}
	for _, st := range s.scene.steps {
		op := st.filled()
		if op.Client == client && op.F == history.Write {
			mark := 'W'
			if op.Outcome == history.Rejected {
				mark = 'x'
			}
			x := c.x(st.at())
			for x+1 < len(row) && (row[x] == '[' || row[x] >= '0' && row[x] <= '9') {
				x++ // beside the token
			}
			row[x] = mark
			c.used[mark] = true
		}
	}
	return c.lane(client, row)
}

// hold draws one grant: waiting, lease, the time beyond it, and its end.
func (s *Story) hold(c *canvas, row []rune, g *grant) {
	if g.refused != never {
		c.fill(row, c.x(g.asked), c.x(g.refused), '·')
		return
	}
	if g.granted == never {
		c.fill(row, c.x(g.asked), c.x(min(g.stop, c.to)), '?')
		return
	}
	c.fill(row, c.x(g.asked), c.x(g.granted)-1, '·')
	end := min(g.stop, c.to)
	if g.leaseEnd < end {
		c.fill(row, c.x(g.leaseEnd)+1, c.x(end), '╍')
	}
	for _, l := range g.leases {
		c.fill(row, c.x(l.from), c.x(min(end, l.to)), '━')
	}
	start, label := c.x(g.granted), "["
	if g.token != 0 {
		label += strconv.FormatUint(g.token, 10)
	}
	if room := c.x(end) - start; len(label) > room {
		label = "["
	}
	c.put(row, start, label)
	if g.stop <= c.to {
		mark := "]"
		if g.stopped == "killed" {
			mark = "✗"
			c.used['✗'] = true
		}
		c.put(row, c.x(g.stop), mark)
	}
}

func (s *Story) faultLanes(c *canvas, client string) []string {
	var out []string
	for _, f := range s.scene.faults {
		if slices.Contains(f.targets, client) {
			out = append(out, c.faultLane(f))
		}
	}
	return out
}

func (c *canvas) faultLane(f fault) string {
	row := c.row()
	from, to := c.x(f.from), c.x(min(f.to, c.to))
	c.fill(row, from, to, '▒')
	text := " " + clean(f.text)
	switch n := len([]rune(text)); {
	case to+1+n <= c.width:
		c.put(row, to+1, text)
	case n <= from:
		c.put(row, from-n, strings.TrimPrefix(text, " ")+" ")
	}
	return c.lane("", row)
}

// resources are those that somebody in the scene wrote to.
func (s *Story) resources() []string {
	var out []string
	for _, st := range s.scene.steps {
		if op := st.filled(); op.F == history.Write && op.Resource != "" && !slices.Contains(out, op.Resource) {
			out = append(out, op.Resource)
		}
	}
	return out
}

// resourceLane shows the writes as the resource took them: the token, or a mark where there is none.
func (s *Story) resourceLane(c *canvas, resource string) string {
	row := c.row()
	for _, st := range s.scene.steps {
		op := st.filled()
		if op.Resource != resource || op.F != history.Write || st.end == nil {
			continue
		}
		mark := '●'
		switch {
		case s.scene.stale(op):
			mark = '✗'
		case op.Outcome == history.Rejected:
			mark = 'x'
		case op.Type != history.OK:
			mark = '?'
		}
		text := string(mark)
		if op.Token != 0 {
			text += strconv.FormatUint(op.Token, 10)
		}
		c.used[mark] = true
		c.put(row, min(c.x(op.Time), c.width-len([]rune(text))), text)
	}
	return c.lane(resource, row)
}

// legend explains the marks that were used.
func (c *canvas) legend() []string {
	indent, line := strings.Repeat(" ", c.label+2), ""
	held := "held"
	if c.leases {
		held = "lease"
	}
	var out []string
	for _, m := range []struct {
		mark rune
		text string
	}{{'·', "waiting"}, {'━', held}, {'╍', "past its lease"}, {'?', "not known"}, {'W', "write"}, {'●', "accepted"}, {'✗', "stale, or killed"}, {'x', "refused"}, {'▒', "fault"}} {
		if !c.used[m.mark] {
			continue
		}
		text := fmt.Sprintf("%c %s", m.mark, m.text)
		if line != "" && len([]rune(line))+3+len([]rune(text)) > c.width {
			out, line = append(out, indent+line), ""
		}
		if line != "" {
			line += "   "
		}
		line += text
	}
	return append(out, indent+line)
}

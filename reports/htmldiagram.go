package reports

import (
	"fmt"
	"html/template"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/locktest/locktest/history"
)

// Sizes of a diagram, in its own units.
const (
	diagramWidth = 960
	diagramLeft  = 110
	diagramRight = 940
	axisHeight   = 46
	laneHeight   = 46
	barHeight    = 22
	faultHeight  = 24
)

// svg collects the elements of a picture. Its colours come from classes of the page's style.
type svg struct{ strings.Builder }

func (s *svg) add(format string, args ...any) { fmt.Fprintf(&s.Builder, format, args...) }

// text writes text, whatever it holds, as text.
func (s *svg) text(x, y float64, class, anchor, text string) {
	s.add(`<text x="%.1f" y="%.1f" class="%s" text-anchor="%s">%s</text>`, x, y, class, anchor, template.HTMLEscapeString(clean(text)))
}

func (s *svg) rect(x, y, w, h float64, class string) {
	s.add(`<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" class="%s"/>`, x, y, max(w, 1), h, class)
}

func (s *svg) line(x1, y1, x2, y2 float64, class string) {
	s.add(`<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" class="%s"/>`, x1, y1, x2, y2, class)
}

// diagram draws a story in real time: a lane for each client, fault and resource.
type diagram struct {
	svg
	story  *Story
	number int
	c      *canvas
	y      float64
	labels map[int][]span // where labels stand, by row, in tenths of a unit
}

// diagram is the story as a picture; empty where there is nothing to see, such as a single moment.
func (s *Story) diagram(number int) template.HTML {
	c := s.canvas()
	if c == nil {
		return ""
	}
	d := &diagram{story: s, number: number, c: c, y: axisHeight}
	s.diagramLanes(d)
	height := d.y + 12
	out := &svg{}
	out.add(`<svg class="diagram" viewBox="0 0 %d %.0f" role="img" aria-labelledby="t%d d%d"><title id="t%d">%s</title><desc id="d%d">%s</desc>`,
		diagramWidth, height, number, number, number, template.HTMLEscapeString(clean(s.lead())), number, "Time runs from left to right, in seconds of the run; what it shows stands in the list beside it.")
	out.add(`<defs><pattern id="late%d" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><line x1="0" y1="0" x2="0" y2="6" class="hatch-late"/></pattern>`, number)
	out.add(`<pattern id="fault%d" width="5" height="5" patternUnits="userSpaceOnUse"><line x1="0" y1="0" x2="0" y2="5" class="hatch-fault"/></pattern></defs>`, number)
	out.WriteString(d.axis(height))
	out.WriteString(d.String())
	out.WriteString(d.overlap(height))
	out.WriteString("</svg>")
	return template.HTML(out.String())
}

func (s *Story) diagramLanes(d *diagram) {
	clients := s.scene.clients()
	for _, client := range clients {
		d.client(client)
		for _, f := range s.scene.faults {
			if slices.Contains(f.targets, client) {
				d.fault(f)
			}
		}
	}
	for _, f := range s.scene.faults {
		if !slices.ContainsFunc(f.targets, func(t string) bool { return slices.Contains(clients, t) }) {
			d.fault(f)
		}
	}
	for _, r := range s.resources() {
		d.resource(r)
	}
}

func (d *diagram) x(t time.Duration) float64 {
	share := float64(t-d.c.from) / float64(d.c.to-d.c.from)
	return diagramLeft + min(max(share, 0), 1)*(diagramRight-diagramLeft)
}

// axis marks moments at round distances over the whole height.
func (d *diagram) axis(height float64) string {
	out := &svg{}
	step := roundStep(float64(d.c.to-d.c.from) / 9)
	for t := (d.c.from + step - 1) / step * step; t <= d.c.to; t += step {
		out.line(d.x(t), 24, d.x(t), height-4, "grid")
		out.text(d.x(t), 18, "tick", "middle", strconv.FormatFloat(t.Seconds(), 'f', decimals(step), 64)+" s")
	}
	return out.String()
}

// lane begins one: its name, and its middle line.
func (d *diagram) lane(name string, height float64) (middle float64) {
	middle = d.y + height/2
	d.labels = map[int][]span{}
	d.text(diagramLeft-10, middle+4, "lane", "end", shortened(name, 14))
	d.line(diagramLeft, middle, diagramRight, middle, "base")
	d.y += height
	return middle
}

func (d *diagram) client(client string) {
	y := d.lane(client, laneHeight)
	for _, g := range d.story.scene.grants {
		if g.client == client {
			d.hold(g, y)
		}
	}
	for _, st := range d.story.scene.steps {
		op := st.filled()
		if op.Client != client {
			continue
		}
		switch {
		case op.F == history.Write && op.Outcome == history.Rejected:
			d.line(d.x(st.at())-4, y-4, d.x(st.at())+4, y+4, "refused")
			d.line(d.x(st.at())-4, y+4, d.x(st.at())+4, y-4, "refused")
			d.label(st.at(), y, "write refused", "mark")
		case op.F == history.Write:
			d.add(`<circle cx="%.1f" cy="%.1f" r="4" class="write"/>`, d.x(st.at()), y)
			d.label(st.at(), y, "write", "mark")
		}
	}
}

// hold draws one grant: waiting, lease, the time beyond it, and its end.
func (d *diagram) hold(g *grant, y float64) {
	top := y - barHeight/2
	if g.refused != never || g.granted == never {
		end, class := g.refused, "waiting"
		if end == never {
			end, class = min(g.stop, d.c.to), "unknown"
			d.label(g.asked, y, "no answer", "mark")
		}
		d.line(d.x(g.asked), y, d.x(end), y, class)
		return
	}
	d.line(d.x(g.asked), y, d.x(g.granted), y, "waiting")
	end := min(g.stop, d.c.to)
	if g.leaseEnd < end {
		d.add(`<rect x="%.1f" y="%.1f" width="%.1f" height="%d" class="late" fill="url(#late%d)"/>`, d.x(g.leaseEnd), top, max(d.x(end)-d.x(g.leaseEnd), 1), barHeight, d.number)
	}
	for _, l := range g.leases {
		d.rect(d.x(l.from), top, d.x(min(end, l.to))-d.x(l.from), barHeight, "hold")
	}
	if g.leaseEnd == never {
		d.rect(d.x(g.granted), top, d.x(end)-d.x(g.granted), barHeight, "hold")
	}
	if g.token != 0 {
		d.label(g.granted, y, "token "+strconv.FormatUint(g.token, 10), "mark")
	}
	if g.stop <= d.c.to {
		d.line(d.x(g.stop), top-3, d.x(g.stop), top+barHeight+3, "end")
		d.label(g.stop, y, g.stopped, "mark")
	}
}

// label writes a word at a moment, above or below the lane's bar, where there is room; else it is left to the list.
func (d *diagram) label(at time.Duration, y float64, text, class string) {
	wide := float64(len([]rune(text))) * 5.6
	x := min(max(d.x(at), diagramLeft+wide/2), diagramRight-wide/2)
	place := span{time.Duration((x - wide/2 - 4) * 10), time.Duration((x + wide/2 + 4) * 10)}
	for row, dy := range []float64{-barHeight/2 - 3, barHeight/2 + 11} {
		if slices.ContainsFunc(d.labels[row], func(s span) bool { return s.from < place.to && place.from < s.to }) {
			continue
		}
		d.labels[row] = append(d.labels[row], place)
		d.text(x, y+dy, class, "middle", text)
		return
	}
}

func (d *diagram) fault(f fault) {
	y := d.y + faultHeight/2
	from, to := d.x(f.from), d.x(min(f.to, d.c.to))
	d.add(`<rect x="%.1f" y="%.1f" width="%.1f" height="14" class="fault" fill="url(#fault%d)"/>`, from, y-7, max(to-from, 2), d.number)
	text := shortened(clean(f.text), 60)
	if wide := float64(len([]rune(text))) * 6; to+8+wide <= diagramRight {
		d.text(to+8, y+4, "fault-name", "start", text)
	} else if from-8-wide >= diagramLeft {
		d.text(from-8, y+4, "fault-name", "end", text)
	} else {
		d.text(max(from, diagramLeft)+4, y+4, "fault-name inside", "start", text)
	}
	d.y += faultHeight
}

// resource shows the writes as the resource took them.
func (d *diagram) resource(name string) {
	y := d.lane(name, laneHeight)
	for _, st := range d.story.scene.steps {
		op := st.filled()
		if op.Resource != name || op.F != history.Write || st.end == nil {
			continue
		}
		x, token := d.x(op.Time), ""
		if op.Token != 0 {
			token = " " + strconv.FormatUint(op.Token, 10)
		}
		switch {
		case d.story.scene.stale(op):
			d.line(x-6, y-6, x+6, y+6, "stale")
			d.line(x-6, y+6, x+6, y-6, "stale")
			d.label(op.Time, y, "STALE"+token, "mark bad-text")
		case op.Outcome == history.Rejected:
			d.line(x-5, y, x+5, y, "refused")
			d.label(op.Time, y, "refused"+token, "mark")
		case op.Type != history.OK:
			d.label(op.Time, y, "?"+token, "mark")
		default:
			d.add(`<circle cx="%.1f" cy="%.1f" r="5" class="write"/>`, x, y)
			d.label(op.Time, y, "accepted"+token, "mark")
		}
	}
}

// overlap frames the time in which two clients held the lock: what the eye must find first.
func (d *diagram) overlap(height float64) string {
	n := d.story.overlap()
	if n < 0 {
		return ""
	}
	f := d.story.scene.i.Findings[n]
	out := &svg{}
	from, to := d.x(f.At), d.x(f.Until)
	out.rect(from, axisHeight, to-from, height-axisHeight-6, "overlap")
	out.text(min(max((from+to)/2, diagramLeft+60), diagramRight-60), axisHeight-7, "overlap-text", "middle", "both: "+long(f.Until-f.At))
	return out.String()
}

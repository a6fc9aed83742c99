package judge

import (
	"fmt"
	"math"

	"sixnines/internal/spell"
	"sixnines/result"
)

const (
	// leastFormer is how many cells the level before an action must rest on: of fewer, the
	// worst says too little of the next.
	leastFormer = 5
	// perCell is how many messages a cell has on average, at least: of a hundredth of fewer
	// nothing can be said.
	perCell = 50
	// inARow is how many cells in a row must be as before for the level to be back.
	inARow = 3
	// outageShare is a share of late messages in a cell from which on an outage looks like it.
	outageShare = 0.5
	// lateShare is the share of messages above a p99.
	lateShare = 0.01
)

// lateGrid is a response metric by when its messages were due, in cells.
type lateGrid struct {
	metric   result.Metric
	x        *result.Merged
	cells    []lateCell
	copies   float64 // deliveries of each message: what delays it delays all of them
	interval int64   // of the file, ns: a due instant is known to half of that
	slot     int64   // ns
	failed   []int64 // refused and unanswered messages, by slot
	half     int64   // the median, ns; 0: refused messages reach it
}

// lateCell is a cell with the messages that were due in it.
type lateCell struct {
	result.DueCell
	answered int64
	failed   int64 // refused, and never answered
}

func (c *lateCell) count() int64 { return c.answered + c.failed }

// newLateGrid returns the cells of the run's first response time; why says why it has no cells.
func newLateGrid(run *result.Run) (g *lateGrid, why string) {
	h := &run.Header
	if h.Mode != result.ModeOpen {
		return nil, "the load has no schedule that determines when messages are due"
	}
	for _, m := range result.Metrics() {
		x := run.Metrics[m]
		if !m.IsResponse() || total(x) == 0 {
			continue
		}
		g = &lateGrid{metric: m, x: x, copies: 1, interval: int64(h.Interval), slot: int64(h.Slot)}
		break
	}
	if g == nil || g.slot <= 0 {
		return nil, "no response time was measured"
	}
	if _, known := unanswered(g.x); !known {
		return nil, "the file does not tell when unanswered messages were due"
	}
	if v, _, refused := factOf(g.x, 50); !refused {
		g.half = int64(v)
	}
	if n := Samples(g.metric, g.x, run.Counters); n > 0 {
		g.copies = float64(total(g.x)) / float64(n)
	}
	all := run.Due(g.metric)
	if len(all) == 0 {
		return nil, "the file has no intervals"
	}
	for _, due := range [][][2]int64{g.x.RefusedAt, g.x.UnansweredAt} {
		for _, p := range due {
			if p[0] >= 0 {
				g.failed = append(g.failed, make([]int64, max(0, p[0]+1-int64(len(g.failed))))...)
				g.failed[p[0]] += p[1]
			}
		}
	}
	join := max(1, int(math.Ceil(perCell*g.copies*float64(len(all))/float64(total(g.x)))))
	for i := 0; i < len(all); i += join {
		c := lateCell{DueCell: all[i]}
		for _, next := range all[i+1 : min(i+join, len(all))] {
			c.DueCell = c.Join(next)
		}
		c.answered = c.Count()
		for s := max(0, (c.Start-g.slot/2+g.slot-1)/g.slot); s < int64(len(g.failed)) && s*g.slot+g.slot/2 < c.End; s++ {
			c.failed += g.failed[s]
		}
		g.cells = append(g.cells, c)
	}
	return g, ""
}

// length is the length of a cell, ns.
func (g *lateGrid) length() int64 { return g.cells[0].End - g.cells[0].Start }

// at returns the cell of an instant, which may be the number of cells.
func (g *lateGrid) at(ns int64) int {
	return int(min(max(ns, 0)/g.length(), int64(len(g.cells))))
}

// level is the latency before an action.
type level struct {
	result.FormerLevel
	failed int64 // messages that were refused or never answered
	most   int64 // the largest value of a slot, ns
}

// former returns the level of the cells that calm has; why says why it is not known.
func (g *lateGrid) former(run *result.Run, calm func(c *result.DueCell) bool) (l *level, why string) {
	l = &level{}
	l.Cell, l.Worst = g.length(), lateShare
	for i := range g.cells {
		if c := &g.cells[i]; calm(&c.DueCell) && c.count() > 0 {
			l.Cells++
			l.failed += c.failed
		}
	}
	part, _ := run.DueIn(calm)
	x := part.Metrics[g.metric]
	if l.Cells < leastFormer || x == nil {
		return nil, fmt.Sprintf("before it, only %s of %s had messages, and the former level needs %d: let it happen later, or lower record.interval",
			spell.Plural(int64(l.Cells), "cell"), span(l.Cell), leastFormer)
	}
	l.Messages = Samples(g.metric, x, run.Counters)
	q := newOrder(x).quantile(l.Messages, 99, 0)
	switch {
	case !q.bounded && !q.lowRefused:
		return nil, fmt.Sprintf("before it, only %s were due, too few for a p99: let it happen later, or raise the rate", spell.Plural(l.Messages, "message"))
	case q.lowRefused || q.openRefused || q.open || q.atLeast:
		return nil, "refused or unanswered messages reach the p99 before it"
	}
	l.P99, l.Late = q.value, q.high
	for i := range g.cells {
		if c := &g.cells[i]; calm(&c.DueCell) && c.count() > 0 {
			l.Worst = max(l.Worst, float64(g.slow(c, l))/float64(c.count()))
		}
	}
	for _, v := range x.Slots {
		if v != result.Refused {
			l.most = max(l.most, v)
		}
	}
	return l, ""
}

// slow counts a cell's late messages: slower than the former p99, refused, or never answered.
func (g *lateGrid) slow(c *lateCell, l *level) int64 { return c.Above(l.Late) + c.failed }

// chance is the largest number of messages that chance gives where n are expected: three
// standard deviations of a Poisson number more, and one.
func chance(n float64) float64 { return n + 3*math.Sqrt(n) + 1 }

// late reports whether a cell has more late messages than before: more than three times the
// share of the worst cell before, or half-way from that to all, and more than chance gives. Any
// message that fails counts where none did before.
func (g *lateGrid) late(c *lateCell, l *level) bool {
	n := float64(c.count()) / g.copies * min(3*l.Worst, (1+l.Worst)/2)
	return float64(g.slow(c, l))/g.copies > chance(n) || c.failed > 0 && l.failed == 0
}

// clear reports whether a cell is as before: no more late messages than the worst cell before
// and chance give.
func (g *lateGrid) clear(c *lateCell, l *level) bool {
	n := float64(c.count()) / g.copies * l.Worst
	return float64(g.slow(c, l))/g.copies <= chance(n) && (c.failed == 0 || l.failed > 0)
}

// effect is what cells show of actions.
type effect struct {
	first  int // the first late cell; −1: none
	last   int // the last cell that was not as before, until inARow in a row were
	back   int // the first of these; −1: they were not seen
	late   int // late cells up to there
	failed bool
	again  int // late cells after that
	seen   int // cells with messages
}

// effect looks for the effect of actions that happened at from and were over at over, in the
// cells whose messages were due before the horizon for sure; at the end of the window that is all.
//
// A short effect, of fewer late cells than inARow, counts only if it begins at once: one that
// chance puts anywhere would be there in one run of twenty at most. So it is within a twentieth
// of the time in which the former level shows none, and two cells at least, of when the action
// happened or was over.
func (g *lateGrid) effect(l *level, from, over, horizon int64) effect {
	e := effect{first: -1, last: -1, back: -1}
	start, end := g.at(from-g.interval/2), len(g.cells)
	for horizon < g.end() && end > start && g.cells[end-1].End+g.interval/2 > horizon {
		end--
	}
	for i := start; i < end; i++ {
		if g.cells[i].count() > 0 {
			e.seen++
		}
	}
	atOnce := max(int64(l.Cells)*l.Cell/20, 2*l.Cell)
	for i := start; i < end; {
		if !g.late(&g.cells[i], l) {
			i++
			continue
		}
		part := g.part(l, i, end, 0)
		at := g.cells[i].Start - g.interval/2
		switch {
		case e.first >= 0:
			e.again += part.late
		case part.late >= inARow || part.failed || at < from+atOnce || at >= over-l.Cell && at < over+atOnce:
			part = g.part(l, i, end, over)
			part.seen, e = e.seen, part
		}
		if part.back < 0 {
			break
		}
		i = part.back
	}
	return e
}

// part returns the effect that begins with a late cell, until inARow cells in a row, over by then,
// are as before.
func (g *lateGrid) part(l *level, first, end int, over int64) effect {
	e := effect{first: first, last: first, back: -1}
	start, row := 0, 0
	for i := first; i < end; i++ {
		c := &g.cells[i]
		if c.count() == 0 {
			continue
		}
		if g.late(c, l) {
			e.late++
			e.failed = e.failed || c.failed > 0 && l.failed == 0
		}
		switch {
		case !g.clear(c, l):
			row, e.last = 0, i
		case c.End > over:
			if row == 0 {
				start = i
			}
			if row++; row == inARow {
				e.back = start
				return e
			}
		}
	}
	return e
}

// end is where the last cell ends.
func (g *lateGrid) end() int64 { return g.cells[len(g.cells)-1].End }

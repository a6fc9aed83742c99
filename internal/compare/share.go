package compare

import (
	"fmt"

	"sixnines/internal/spell"
	"sixnines/result"
)

// share is the share of a run's messages to which something undesired happened.
type share struct {
	of   Subject
	name string // what happened to them
	part func(*result.Run) (n, of int64)
	most func(*result.Run) int64 // n at most, where it is not known how many it is; nil: it is known
}

// broken is what the broker promised to keep and has not: as read back, where that was done.
var broken = share{OfBroken, "lost although acknowledged", func(r *result.Run) (n, of int64) {
	c := &r.Summary.Counters
	least, _ := r.Summary.LostAcked()
	return least, max(c.Expected, c.Scheduled)
}, func(r *result.Run) int64 {
	if r.Summary.Counters.Expected == 0 && r.Summary.ReadBack == nil {
		return 0 // the load does not ask: nobody looks for its messages
	}
	_, most := r.Summary.LostAcked()
	return most
}}

// shares lists the shares that a gate judges. Messages lost without an acknowledgement break
// no guarantee, but they are still lost, so they are judged separately.
func shares() []share {
	return []share{
		broken,
		{OfLost, "lost", func(r *result.Run) (n, of int64) {
			c := &r.Summary.Counters
			return max(0, c.Missing-c.LostAcked-c.MissingNacked), max(c.Expected, c.Scheduled)
		}, nil},
		{OfUnanswered, "neither acknowledged nor refused", func(r *result.Run) (n, of int64) {
			if r.Header.Ack == "" || r.Header.Ack == "none" {
				return 0, 0 // without acknowledgements the number is unknown
			}
			c := &r.Summary.Counters
			return c.Unknown, c.Scheduled
		}, nil},
		{OfRefused, "refused", func(r *result.Run) (n, of int64) {
			c := &r.Summary.Counters
			return c.Rejected + c.Nacked, c.Scheduled
		}, nil},
		{OfCorrupted, "corrupted", func(r *result.Run) (n, of int64) {
			c := &r.Summary.Counters
			return c.Damaged(), max(c.Expected, c.Scheduled)
		}, nil},
	}
}

// countedOnes returns the pairs whose counters are valid: those of usable runs and of
// overloaded ones. The latencies of an overloaded run are not used, but its losses are real.
func countedOnes(everyone []couple) []couple {
	var out []couple
	for _, p := range everyone {
		if p.runs[0].counts() && p.runs[1].counts() {
			out = append(out, p)
		}
	}
	return out
}

func (r run) counts() bool {
	return r.Summary != nil && !r.Summary.Aborted && (r.unfit == "" || unstable(r))
}

// share judges a share of both sides pair by pair: B's is worse if it exceeds A's by more
// than matters. A pair is silent where it is not known whether it does. The result is nil if both sides have none.
func (c *Comparison) share(pairs []couple, x share) *Judged {
	var s signs
	var total [2]int64
	var runs [2]int
	silent := 0
	for _, p := range pairs {
		var part, most [2]float64
		for i, r := range p.runs {
			n, of := x.part(r.Run)
			if n > 0 {
				part[i] = float64(n) / float64(max(of, n))
				total[i] += n
				runs[i]++
			}
			if most[i] = part[i]; x.most != nil {
				n := x.most(r.Run)
				most[i] = max(part[i], float64(n)/float64(max(of, n, 1)))
			}
		}
		switch {
		case part[1] > most[0]*(1+c.MinEffect):
			s.worse++
		case most[1] > part[0]*(1+c.MinEffect):
			silent++
		case part[0] > 0:
			s.better++
		}
	}
	if total[0]+total[1] == 0 && silent == 0 {
		return nil
	}
	words := func(i int) string {
		if total[i] == 0 {
			return "none"
		}
		return fmt.Sprintf("%s in %s", spell.Count(total[i]), spell.Plural(runs[i], "run"))
	}
	j := &Judged{Of: x.of, Better: s.better, Worse: s.worse,
		Text: fmt.Sprintf("messages %s: A %s, B %s; more in B in %d pairs", x.name, words(0), words(1), s.worse)}
	if silent > 0 {
		j.Text += fmt.Sprintf(", and in %d it is not known how many acknowledged messages are lost, see read_back", silent)
	}
	j.bySigns(s, silent, c.oneSided())
	return j
}

// bySigns sets the answer by the exact sign test, with an error of at most alpha in each direction, and adds its p-value to the text.
func (j *Judged) bySigns(s signs, silent int, alpha float64) {
	j.Answer, j.P = s.judge(alpha, silent)
	j.Text += fmt.Sprintf(", not more in %d (p = %.2g)", s.better, j.P)
	if j.Answer == Open {
		j.Cause = FewSigns
	}
}

// sentShare judges the share of due messages that was sent; nil if no pair has a schedule.
func (c *Comparison) sentShare(pairs []couple) *Judged {
	var s signs
	for _, p := range pairs {
		a, timed := p.runs[0].Summary.Rate.SentShare()
		b, both := p.runs[1].Summary.Rate.SentShare()
		switch {
		case !timed || !both:
		case b*(1+c.MinEffect) < a:
			s.worse++
		default:
			s.better++
		}
	}
	if s.worse+s.better == 0 {
		return nil
	}
	j := &Judged{Of: OfRate, Better: s.better, Worse: s.worse, Text: fmt.Sprintf("share of due messages that was sent: lower in B by more than %s in %d pairs", percent(c.MinEffect), s.worse)}
	j.bySigns(s, 0, c.oneSided())
	return j
}

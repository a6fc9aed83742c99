package sweep

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"sixnines/internal/spell"
	"sixnines/internal/stats"
)

// KneeRule defines the knee in words, for output.
const KneeRule = "the rate at which rate ÷ latency is highest: beyond it latency grows by a larger factor than the rate (Kleinrock's power)"

// Point is one trial of a rate–latency curve.
type Point struct {
	Rate     float64 // messages a second
	Latency  float64 // the curve's figure, in any unit; above 0
	Unstable bool    // the system does not carry the rate, or lost or refused messages reach the figure; Latency means nothing
	Unknown  bool    // the trial is INVALID, was not made, or its figure is suspect or missing
}

// Knee is where a rate–latency curve bends.
type Knee struct {
	Told bool // Rate is the knee; otherwise the knee is only known to lie within Between
	// Rate is the knee in messages a second, with its interval over the rounds if there
	// are at least three.
	Rate stats.Estimate
	// Between are the tried rates on either side of the knee, in messages a second. If
	// the first is 0, the knee is at or below the second; if the second is +Inf, it is
	// at or above the first.
	Between [2]float64
	Text    string // the result in one line
}

// LeastRates is how many different stable rates a knee needs.
const LeastRates = 4

// kneeWindow is the share of the highest power from which on a rate is used in the fit of the
// maximum.
const kneeWindow = 0.7

// findKnee finds the knee of a curve whose rounds have the same rates. conf is the
// confidence of its interval, in (0, 1).
//
// The knee is the maximum of Kleinrock's power, rate ÷ latency (Power and
// deterministic rules of thumb for probabilistic problems in computer
// communications, ICC 1979). There the tangent of the curve goes through the origin, so
// that one per cent more load costs one per cent more latency; below it less, above it
// more. The definition has no parameter and does not depend on the units. It does not
// depend on the sweep's range either, unlike the point farthest from the chord between
// both ends (Satopää and others, Finding a "kneedle" in a haystack, 2011). For an M/M/1
// queue the knee is half of the server's rate, for the mean and for every percentile;
// for M/D/1 it is 58.6 % for the mean.
//
// A rate is beyond the knee if at least half of its trials are unstable, and so is every
// rate above it. The maximum is that of a parabola through the power of all trials at
// rates with at least 70 % of the highest power (for M/M/1 the power is a parabola). No
// knee is given if the maximum is not between tried rates, or if most trials at a rate
// used in the fit, or at one next to these, are unknown.
func findKnee(rounds [][]Point, conf float64) Knee {
	var k Knee
	all := make([]int, len(rounds))
	for i := range all {
		all[i] = i
	}
	found := kneeOf(rounds, all)
	if found.why == "" {
		found.why = found.blindSpot(rounds)
	}
	k.Between = found.between
	if found.why != "" {
		k.Text = "the knee is not known: " + found.why
		return k
	}
	log := stats.OverRounds(len(rounds), func(pick []int) []float64 {
		if f := kneeOf(rounds, pick); f.why == "" {
			return []float64{math.Log(f.rate)}
		}
		return []float64{math.NaN()}
	}, conf, kneeSeed)[0]
	k.Told = true
	k.Rate = stats.Estimate{Value: found.rate, Low: math.Exp(log.Low), High: math.Exp(log.High), Bounded: log.Bounded}
	k.Text = fmt.Sprintf("the knee is at %s", spell.Rate(found.rate))
	if k.Rate.Bounded {
		k.Text += fmt.Sprintf(", and with %s %% confidence between %s and %s", amount(100*conf), spell.Rate(k.Rate.Low), spell.Rate(k.Rate.High))
	} else {
		k.Rate.Low, k.Rate.High = 0, 0
		k.Text += " (no interval: " + unbounded(len(rounds)) + ")"
	}
	return k
}

// unbounded says why this number of rounds gives no interval.
func unbounded(rounds int) string {
	if rounds < stats.LeastRounds {
		return fmt.Sprintf("it needs %d rounds", stats.LeastRounds)
	}
	return fmt.Sprintf("too many resamples of the %d rounds have no result, for instance because trials are missing", rounds)
}

// kneeSeed is the seed of the resamplings: the same data give the same interval.
const kneeSeed = 0x6b6e6565

// amount writes a number: rounded to a whole one from 1,000 on, else to four significant
// digits.
func amount(x float64) string {
	if x >= 1000 {
		return strconv.FormatFloat(math.Round(x), 'f', 0, 64)
	}
	return strconv.FormatFloat(significant(x, 4), 'f', -1, 64)
}

// kneeAt is a knee, or the reason why no knee is given.
type kneeAt struct {
	rate    float64
	between [2]float64
	// placedBy is the range of the rates used in the fit and those next to them: trials
	// there decide the knee.
	placedBy [2]float64
	why      string
}

// blindSpot says why a knee is withheld: at a rate that decides it, most trials are unknown.
// It is empty if no such rate exists.
func (k kneeAt) blindSpot(rounds [][]Point) string {
	var tried []float64
	balance := map[float64]int{} // known trials minus unknown ones, by rate
	for _, round := range rounds {
		for _, p := range round {
			if _, ok := balance[p.Rate]; !ok {
				tried = append(tried, p.Rate)
			}
			if p.Unknown {
				balance[p.Rate]--
			} else {
				balance[p.Rate]++
			}
		}
	}
	slices.Sort(tried)
	for _, rate := range tried {
		if balance[rate] < 0 && rate >= k.placedBy[0] && rate <= k.placedBy[1] {
			return fmt.Sprintf("most trials at %s show nothing", spell.Rate(rate))
		}
	}
	return ""
}

// level is the trials at one rate.
type level struct {
	rate     float64
	powers   []float64 // rate ÷ latency of the stable trials
	unstable int
}

func (l level) power() float64 { return stats.Median(l.powers) }

// levelsOf groups the picked rounds by rate, up to the first rate beyond the knee; beyond is
// that rate, or 0 if none is.
func levelsOf(rounds [][]Point, pick []int) (levels []level, beyond float64) {
	var points []Point
	for _, i := range pick {
		for _, p := range rounds[i] {
			if !p.Unknown {
				points = append(points, p)
			}
		}
	}
	slices.SortStableFunc(points, func(a, b Point) int { return cmp.Compare(a.Rate, b.Rate) })
	for _, p := range points {
		if len(levels) == 0 || levels[len(levels)-1].rate != p.Rate {
			levels = append(levels, level{rate: p.Rate})
		}
		l := &levels[len(levels)-1]
		switch {
		case p.Unstable:
			l.unstable++
		case p.Latency > 0 && !math.IsInf(p.Latency, 0):
			l.powers = append(l.powers, p.Rate/p.Latency)
		}
	}
	stable := levels[:0]
	for _, l := range levels {
		if l.unstable > 0 && l.unstable >= len(l.powers) {
			return stable, l.rate
		}
		if len(l.powers) > 0 {
			stable = append(stable, l)
		}
	}
	return stable, 0
}

func kneeOf(rounds [][]Point, pick []int) kneeAt {
	levels, beyond := levelsOf(rounds, pick)
	end := math.Inf(1)
	if beyond != 0 {
		end = beyond
	}
	if len(levels) == 0 {
		why := "no rate was stable: the lowest overloads the system, or lost or refused messages reach the figure"
		if beyond == 0 {
			why = "no trial has a figure that can be used"
		}
		return kneeAt{between: [2]float64{0, end}, why: why}
	}
	best := 0
	for i, l := range levels {
		if l.power() > levels[best].power() {
			best = i
		}
	}
	k := kneeAt{between: [2]float64{0, end}}
	if best > 0 {
		k.between[0] = levels[best-1].rate
	}
	if best+1 < len(levels) {
		k.between[1] = levels[best+1].rate
	}
	switch {
	case len(levels) < LeastRates:
		k.why = fmt.Sprintf("%d rates were stable, and it needs %d", len(levels), LeastRates)
		return k
	case best == 0:
		k.why = fmt.Sprintf("it lies at or below %s: rate ÷ latency falls from %s on, the lowest rate with a figure; try lower rates", spell.Rate(levels[1].rate), spell.Rate(levels[0].rate))
		return k
	case best == len(levels)-1 && beyond == 0:
		k.between[1] = math.Inf(1)
		k.why = fmt.Sprintf("it lies at or above %s: rate ÷ latency still grows up to %s, the highest rate with a figure; try higher rates", spell.Rate(k.between[0]), spell.Rate(levels[best].rate))
		return k
	}
	least := kneeWindow * levels[best].power()
	from, to := best-1, min(best+1, len(levels)-1)
	for from > 0 && levels[from-1].power() >= least {
		from--
	}
	for to < len(levels)-1 && levels[to+1].power() >= least {
		to++
	}
	if to-from < 2 { // at the highest stable rates, use lower ones in the fit too
		from = max(0, to-2)
	}
	// Because of noise, a neighbour of the knee may have the highest power.
	rate, ok := vertex(levels[from:to+1], levels[best].rate)
	top := levels[to].rate
	if to == len(levels)-1 && beyond != 0 {
		top = beyond
	}
	if !ok || rate <= levels[from].rate || rate >= top {
		k.why = fmt.Sprintf("it lies between %s and %s, and the rates tried are too few, or too noisy, to place it", spell.Rate(k.between[0]), spell.Rate(k.between[1]))
		return k
	}
	k.rate, k.between, k.placedBy = rate, [2]float64{0, end}, [2]float64{0, end}
	if from > 0 {
		k.placedBy[0] = levels[from-1].rate
	}
	if to < len(levels)-1 {
		k.placedBy[1] = levels[to+1].rate
	}
	for _, l := range levels {
		if l.rate <= rate {
			k.between[0] = l.rate
		} else {
			k.between[1] = min(k.between[1], l.rate)
		}
	}
	return k
}

// vertex returns the rate at the maximum of the parabola fitted to the powers of the levels
// by least squares; scale is a rate near it. ok is false if the parabola has no maximum.
func vertex(levels []level, scale float64) (rate float64, ok bool) {
	var rows, powers []float64
	for _, l := range levels {
		for _, p := range l.powers {
			x := l.rate / scale
			rows = append(rows, 1, x, x*x)
			powers = append(powers, p/levels[0].power())
		}
	}
	var c mat.VecDense
	if err := c.SolveVec(mat.NewDense(len(powers), 3, rows), mat.NewVecDense(len(powers), powers)); err != nil {
		return 0, false
	}
	return -c.AtVec(1) / (2 * c.AtVec(2)) * scale, c.AtVec(2) < 0
}

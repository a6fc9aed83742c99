package cli

import (
	"fmt"
	"math"

	"sixnines/internal/stats"
	"sixnines/internal/sweep"
	"sixnines/result"
)

// findings are what the curves of a sweep come to.
type findings struct {
	Knees       []kneeObject `json:"knees,omitempty"`
	Scalability []uslObject  `json:"usl,omitempty"`
}

// kneeObject is the knee of one curve, as JSON has it.
type kneeObject struct {
	Of         string            `json:"of,omitempty"` // the values of the other axes
	Percentile result.Percentile `json:"percentile"`
	Told       bool              `json:"told"`
	Rate       stats.Estimate    `json:"rate_per_s"`
	// Below and Above are the rates that were tried on either side of it; null: there
	// was none.
	Below *float64 `json:"below_per_s"`
	Above *float64 `json:"above_per_s"`
	Text  string   `json:"text"`
}

// uslObject is the scalability of one curve.
type uslObject struct {
	Of        string           `json:"of,omitempty"`
	Over      string           `json:"over"`
	Refused   string           `json:"refused,omitempty"`
	Gamma     stats.Estimate   `json:"gamma_per_s"`
	Sigma     stats.Estimate   `json:"sigma"`
	Kappa     stats.Estimate   `json:"kappa"`
	PeakTold  bool             `json:"peak_told"`
	Peak      stats.Estimate   `json:"peak"`
	Residuals []residualObject `json:"residuals"`
	Text      string           `json:"text"`
	largest   residualObject
}

type residualObject struct {
	Round    int     `json:"round"` // from 1
	N        float64 `json:"n"`
	PerS     float64 `json:"per_s"`
	Fitted   float64 `json:"fitted_per_s"`
	Relative float64 `json:"relative"` // per_s ÷ fitted_per_s − 1
}

// findings finds the knees of the curves over the rate, and with --usl the
// scalability over a concurrency.
func (s *sweepRuns) findings(t *sweep.Table) findings {
	var f findings
	const confidence = 0.95
	for _, c := range t.Along(t.RateKey()) {
		if len(c.X) < sweep.LeastRates {
			continue
		}
		for _, p := range []result.Percentile{result.P50, result.P99} {
			k := c.Knee(p, confidence)
			o := kneeObject{Of: c.Name(), Percentile: p, Told: k.Told, Rate: k.Rate, Text: k.Text}
			if k.Between[0] > 0 {
				o.Below = &k.Between[0]
			}
			if !math.IsInf(k.Between[1], 0) {
				o.Above = &k.Between[1]
			}
			f.Knees = append(f.Knees, o)
		}
	}
	if !s.usl {
		return f
	}
	key := concurrencyOf(t.Axes, t.Workload)
	for _, c := range t.Along(key) {
		u := c.Scalability(confidence)
		o := uslObject{Of: c.Name(), Over: key, Refused: u.Refused, Gamma: u.Gamma, Sigma: u.Sigma, Kappa: u.Kappa, PeakTold: u.PeakTold, Peak: u.Peak,
			Residuals: []residualObject{}, Text: u.Text}
		for _, r := range u.Residuals {
			x := residualObject{Round: r.Round + 1, N: r.N, PerS: r.X, Fitted: r.Fitted, Relative: r.Relative}
			o.Residuals = append(o.Residuals, x)
			if math.Abs(x.Relative) > math.Abs(o.largest.Relative) {
				o.largest = x
			}
		}
		f.Scalability = append(f.Scalability, o)
	}
	return f
}

// lines writes the findings for people.
func (f findings) lines() []string {
	var all []string
	for _, k := range f.Knees {
		all = append(all, ofWorkload(k.Of)+"by the p"+string(k.Percentile)+" "+k.Text)
	}
	if len(f.Knees) > 0 {
		all = append(all, "The knee is "+sweep.KneeRule+".")
	}
	for _, u := range f.Scalability {
		text := ofWorkload(u.Of) + u.Text
		if len(u.Residuals) > 0 {
			text += fmt.Sprintf("; farthest from the law is round %d at N = %g, by %+.1f %%", u.largest.Round, u.largest.N, 100*u.largest.Relative)
		}
		all = append(all, text)
	}
	if len(f.Scalability) > 0 {
		all = append(all, "The law is "+sweep.USLForm+".")
	}
	return all
}

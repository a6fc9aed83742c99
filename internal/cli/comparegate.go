package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"sixnines/internal/compare"
)

const unrankedHint = "compare sets with the same guarantees and load, or use --rank-unlike; without --gate the figures are shown side by side"

// gateable refuses a gate that no runs could fail.
func gateable(all []*compare.Comparison) error {
	for _, c := range all {
		if c.Gate.Answer == compare.Worse {
			return nil
		}
	}
	for _, c := range all {
		if c.Outcome == compare.Unranked {
			return wrongUsage(unrankedHint, "--gate could never fail: %s%s", ofWorkload(c.Workload), c.Ungated)
		}
	}
	if !slices.ContainsFunc(all, func(c *compare.Comparison) bool { return !c.Background }) {
		return gatesNothing(all[0].Workload)
	}
	return nil
}

// gatesNothing refuses a gate over background workloads only.
func gatesNothing(workload string) error {
	return wrongUsage("choose another workload with --of, or leave --gate out", "--gate could never fail: %s is a background workload, which is not judged", workload)
}

// gated reports what a gate fails for and what it cannot decide, and returns the command's
// error: only figures that are shown not to be worse pass.
func (env *Env) gated(all []*compare.Comparison, p passing) error {
	worse := false
	var open []string
	for _, c := range all {
		if c.Outcome == compare.Unranked && c.Gate.Answer != compare.Worse {
			return wrongUsage(unrankedHint, "--gate could never fail: %s%s", ofWorkload(c.Workload), c.Ungated)
		}
		for _, r := range c.Regressions {
			fmt.Fprintln(env.Stderr, env.plainText("regression: "+oneLine(ofWorkload(c.Workload)+r)))
			worse = true
		}
		for _, text := range undecidedTexts(c) {
			open = append(open, ofWorkload(c.Workload)+text)
		}
	}
	rest := open
	if !worse && !p.allowUndecided && len(open) > 0 {
		rest = open[1:] // the first is the error
	}
	for _, text := range rest {
		word := "undecided: "
		if p.allowUndecided {
			word = "undecided, but allowed: "
		}
		fmt.Fprintln(env.Stderr, env.plainText(word+oneLine(text)))
	}
	switch {
	case worse:
		return status(exitThreshold)
	case len(open) > 0 && !p.allowUndecided:
		return &fault{code: exitThreshold, cause: errors.New("the gate cannot be decided: " + oneLine(open[0])), hint: openHint(all)}
	}
	return nil
}

// undecidedTexts say what a gate cannot decide. Rows with the same reason share a line.
func undecidedTexts(c *compare.Comparison) []string {
	var out []string
	wide := map[string]string{} // the reasons, without figures
	var order []string
	for _, j := range c.Gate.Of(compare.Open) {
		name := c.Gate.Name(j)
		var why string
		switch j.Cause {
		case compare.WideInterval:
			why = c.Unshown()
		case compare.TooFewPairs:
			out = append(out, j.Text)
			continue
		case compare.SuspectRuns, compare.NoInterval, compare.Unsupported, compare.Unfinished, compare.Disturbed, compare.BiasedControl, compare.NoControl:
			why = j.Text
		default:
			out = append(out, name+": "+j.Text)
			continue
		}
		if wide[why] == "" {
			order = append(order, why)
			wide[why] = name
		} else {
			wide[why] += ", " + name
		}
	}
	for _, why := range order {
		out = append(out, wide[why]+": "+why)
	}
	return out
}

// openHint returns a hint on what would decide a gate.
func openHint(all []*compare.Comparison) string {
	var hints []string
	add := func(text string) {
		if !slices.Contains(hints, text) {
			hints = append(hints, text)
		}
	}
	for _, c := range all {
		for _, j := range c.Gate.Of(compare.Open) {
			switch j.Cause {
			case compare.TooFewPairs:
				add(fmt.Sprintf("make more pairs of runs with sixnines ab or sixnines run, %d recommended", compare.RecommendedPairs))
			case compare.WideInterval, compare.NoInterval:
				add("make more pairs, judge fewer percentiles with --percentile 50,99, or allow more with --min-effect")
			case compare.Missing, compare.Unsupported:
				add("make longer runs, or choose other percentiles with --percentile")
			case compare.SuspectRuns:
				add("see sixnines report for why runs are suspect, or choose lower percentiles with --percentile")
			case compare.FewSigns:
				add("find out why runs failed or lost messages, and make more pairs")
			case compare.Disturbed, compare.BiasedControl, compare.NoControl:
				add("make the runs one after the other with sixnines ab --design apart")
			case compare.Unfinished:
				add("continue the ab with --resume")
			case compare.Excluded:
				add("repeat the runs that are left out")
			}
		}
	}
	return strings.Join(append(hints, "--allow-undecided lets it pass"), "; ")
}

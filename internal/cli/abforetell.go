package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sixnines/internal/compare"
	"sixnines/internal/spell"
	"sixnines/internal/stats"
	"sixnines/result"
	"sixnines/scenario"
)

// flagsFor returns the flags of both sides. With a budget runs of a driver's own scenario have a length that suits it:
// a thirty-sixth, 2 to 30 s.
func (t *abRuns) flagsFor(a *app) []scenario.Override {
	set := func(list []scenario.Override) bool {
		return slices.ContainsFunc(list, func(o scenario.Override) bool {
			return o.Key == "phases.duration" || o.Key == "workload.messages" || strings.HasPrefix(o.Key, "workload.arrivals")
		})
	}
	if t.budget == 0 || set(t.flags) || set(t.only[0]) || set(t.only[1]) ||
		slices.ContainsFunc(t.args, func(arg string) bool { return filepath.Ext(arg) != "" || strings.ContainsRune(arg, filepath.Separator) }) {
		return t.flags
	}
	step := max(time.Second, 2*t.slice)
	window := min(max((t.budget/36).Truncate(step), 2*step), max((30*time.Second).Truncate(step), 2*step))
	return append(slices.Clone(t.flags), scenario.Override{Key: "phases.duration", Value: spell.Duration(window), Flag: "--for"})
}

// foretell prints what an ab would make and what it can show.
func (t *abRuns) foretell(ctx context.Context, a *app) error {
	if t.resume != "" {
		return wrongUsage("leave one of them out", "--dry-run and --resume exclude each other")
	}
	if t.json {
		return wrongUsage("leave one of them out", "--dry-run and --json exclude each other: what an ab would make is said in words")
	}
	if err := t.check(ctx, a); err != nil {
		return err
	}
	var out []string
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	for i, arm := range t.arms {
		say("%s  %s, broker %s", arm.label, titleOf(arm.scenario), t.brokers[i])
	}
	if len(t.changes) > 0 {
		say("B changes %s", changesWords(t.changes))
	}
	takes, controls, pilot := t.guess(t.fixed), abControls, time.Duration(0)
	switch {
	case t.fixed == nil:
		for i := range t.arms {
			pilot += t.guess(nil) - t.arms[i].scenario.Phases.Duration + min(t.arms[i].scenario.Phases.Duration, pilotWindow)
		}
		pilot += pilot / 2
		otherwise := "in turn"
		if why := t.notInTurn(); why != "" {
			otherwise = "apart, since " + why
		}
		say("design: at the same time, if a pilot of about %s, which may be repeated twice, finds that the sides do not disturb each other; else %s", seconds(pilot), otherwise)
	case t.fixed.Kind == result.DesignApart:
		controls = 0
		say("design: apart: %s", cmp.Or(t.why, "as asked"))
	case t.fixed.Kind == result.DesignTurn:
		say("design: at the same time, loaded in turn for %s each, as asked", spell.Duration(t.slice))
	default:
		say("design: at the same time, as asked")
	}
	if t.fixed != nil && t.budget > 0 && t.pilots {
		pilot = takes // its window may be shorter
	}
	looks := []int{t.pairs}
	if t.budget > 0 {
		n := int((t.budget-pilot)/takes) - controls
		if n < compare.MinPairs {
			return tooShort(t.budget, pilot+takes*time.Duration(compare.MinPairs+controls), takes, controls)
		}
		looks = compare.Looks(min(n, maxPairs))
	}
	n := looks[len(looks)-1]
	say("about %s: %s, and %d with A on both sides, of about %s each; evaluated after %s pairs", seconds(pilot+takes*time.Duration(n+controls)),
		plural(n, "pair"), controls, seconds(takes), wordsOf(looks))
	conf := compare.Planned(looks, t.rows())
	say("resolves: an interval is the change ± %.2g of the spread (standard deviation) of the pairs' log ratios", stats.HalfWidth(n, conf))
	if t.options.MinEffect > 0 {
		most := stats.LargestSpread(n, conf, math.Log1p(t.options.MinEffect))
		say("          equal sides are shown to be within ±%.3g %% in 8 of 10 comparisons where that spread is up to %.2g %%", t.options.MinEffect*100, most*100)
	}
	if _, err := fmt.Fprintln(a.Stdout, a.plainText(strings.Join(out, "\n"))); err != nil {
		return errors.Join(errors.New("print what would be made"), err)
	}
	return nil
}

// rows is how many percentiles are judged: those that are asked for, or else those for which a run has enough messages.
func (t *abRuns) rows() int {
	if n := len(t.options.Percentiles); n > 0 {
		return n
	}
	s := t.arms[0].scenario
	messages, n := int64(s.Parts()[0].Workload.Rate.Float()*s.Phases.Duration.Seconds()), 0
	for _, p := range result.Percentiles() {
		percent, _ := p.Number()
		if stats.MinSamples(stats.Fraction(percent), compare.Confidence) <= messages {
			n++
		}
	}
	return max(n, 1)
}

// wordsOf writes numbers as "8, 14 and 20".
func wordsOf(numbers []int) string {
	words := each(numbers, func(n int) string { return fmt.Sprint(n) })
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}

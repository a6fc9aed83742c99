package cli

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"time"

	"sixnines/driver"
	"sixnines/internal/brokers"
	"sixnines/internal/schedule"
	"sixnines/internal/spell"
	"sixnines/internal/study"
	"sixnines/internal/trials"
	"sixnines/scenario"
)

// studyOptions are the flags of study run.
type studyOptions struct {
	outputOptions
	arg         string // the study, as the user names it
	length      string
	quick, full bool
	only        []string
	urls        []string
	broker      string // in versions, see argued
	replace     int    // rounds of a cell at most; negative: half of its rounds
	design      string // of pairs, a result.DesignKind; empty: as a pilot of each chooses
	dryRun      bool
	json        bool
	passing     passing
}

// studyCell is a cell of a study, ready to run.
type studyCell struct {
	study.Cell
	cell
	product *brokers.Product // that is started for it, or that it needs here; nil: none
	managed bool             // product is started
	group   string           // the same for cells that one broker can serve
	chosen  bool             // by --only
	due     map[string]int64 // least messages in the window of any round, by workload, empty for the first that is judged; 0: not known
	lacks   error            // what this machine lacks for the cell's actions; nil: nothing
}

// studyPlan is a study before anything is run.
type studyPlan struct {
	study  *study.Study
	length string
	cells  []studyCell
	places []trials.Place // all trials, in their order
	paired []trials.Pair  // cells that may be made at the same time
	urls   map[string]string
	fleet  time.Duration // what it adds to each trial
}

// planStudy checks all that can be checked before something is run.
func (env *Env) planStudy(s *study.Study, o studyOptions) (*studyPlan, error) {
	p := &studyPlan{study: s, length: o.length, urls: map[string]string{}}
	if err := p.readURLs(o.urls); err != nil {
		return nil, err
	}
	cells, err := s.Cells(o.length)
	if err != nil {
		return nil, err
	}
	chosen, err := chosenCells(cells, o.only)
	if err != nil {
		return nil, err
	}
	var groups, rounds []int
	var names []string
	for _, c := range cells {
		x, err := env.studyCell(c, p.urls[c.System.Name])
		if err != nil {
			return nil, err
		}
		x.chosen = chosen[c.Name]
		if c.Beside != "" {
			x.Digest = joinWords("beside "+c.Beside, o.design)
		}
		if !slices.Contains(names, x.group) {
			names = append(names, x.group)
		}
		groups, rounds = append(groups, slices.Index(names, x.group)), append(rounds, c.Rounds)
		p.cells = append(p.cells, x)
	}
	p.pair(o.design)
	p.places = trials.Grouped(groups, rounds, p.pairs(), p.beside(), randomSeed())
	if len(p.places) > mostTrials {
		return nil, wrongUsage("use fewer rounds or cells", "%s are more than the %s that a study may have", spell.Plural(len(p.places), "trial"), grouped(mostTrials))
	}
	return p, nil
}

// pairs are the cells that a test compares, by index.
func (p *studyPlan) pairs() [][2]int {
	var all [][2]int
	at := func(name string) int {
		return slices.IndexFunc(p.cells, func(c studyCell) bool { return c.Name == name })
	}
	for _, set := range p.study.Sets(each(p.cells, func(c studyCell) study.Cell { return c.Cell })) {
		for i := 1; i < len(set.Cells); i++ {
			all = append(all, [2]int{at(set.Cells[i-1]), at(set.Cells[i])}) // Sets names cells that are there
		}
	}
	return all
}

// readURLs reads SYSTEM=URL.
func (p *studyPlan) readURLs(all []string) error {
	systems := systemNames(p.study)
	for _, text := range all {
		name, url, ok := strings.Cut(text, "=")
		switch {
		case !ok || url == "":
			return wrongUsage("write it as --url SYSTEM=URL, such as --url "+systems[0]+"=nats://host:4222", "--url without a system")
		case !slices.Contains(systems, name):
			return wrongUsage(orMeant(name, systems, "the systems of the study are "+strings.Join(systems, ", ")), "there is no system %q", name)
		}
		p.urls[name] = url
	}
	return nil
}

func systemNames(s *study.Study) []string {
	return each(s.Systems, func(x study.System) string { return x.Name })
}

// chosenCells are the names of the cells that --only means; without it all.
func chosenCells(cells []study.Cell, only []string) (map[string]bool, error) {
	chosen := map[string]bool{}
	if len(only) == 0 {
		only = []string{"*"}
	}
	for _, pattern := range only {
		found := study.Select(cells, []string{pattern})
		if len(found) == 0 {
			var names []string
			for _, c := range cells {
				for _, name := range []string{c.System.Name, c.Name} {
					if !slices.Contains(names, name) {
						names = append(names, name)
					}
				}
			}
			hint := "sixnines study run --dry-run lists the cells; a system's name means all of its cells, * means any characters: nats, \"*/1KiB-3000\""
			return nil, wrongUsage(orMeant(pattern, names, hint), "--only %q matches no cell of this length", oneLine(pattern))
		}
		for _, c := range found {
			chosen[c.Name] = true
		}
	}
	return chosen, nil
}

// studyCell completes the scenario of a cell.
func (env *Env) studyCell(c study.Cell, url string) (studyCell, error) {
	x := studyCell{Cell: c}
	sc, err := c.Scenario(env.lookup)
	if err != nil {
		return x, asUsage(err)
	}
	if url != "" {
		sc.Target.URL, sc.Target.Managed, sc.Target.Nodes, sc.Target.Settings = url, "", 0, nil
	}
	e, err := env.complete(sc, nil)
	if err != nil {
		return x, c.Locate(err)
	}
	if _, err := planOfAll(sc, e); errors.As(err, new(machineLacks)) {
		x.lacks = err
	} else if err != nil {
		return x, err
	}
	if x.due, err = messagesDue(sc, e, c.Rounds+replaced(c.Rounds)); err != nil {
		return x, err
	}
	x.cell, x.group = newCell(sc, e), "without a broker of ours: "+c.System.Name
	x.cell.Name, x.label = c.Name, c.Name
	if b, ok := c.Bench(); ok {
		x.Inputs = map[string]string{"benchmark": fmt.Sprintf("%s on %d processors", b.Name, b.Processors)}
	}
	product, managed, err := managedProduct(sc, x.entry)
	switch {
	case err != nil:
		return x, err
	case managed:
		x.product, x.managed, x.group = &product, true, brokerKey(product, sc)
	case url == "" && sc.Target.URL == "":
		if product, ok := brokers.ForDriver(x.entry.Name); ok {
			x.product = &product
		}
	}
	return x, nil
}

// messagesDue returns how many messages each workload of a scenario is to send in its window: of random
// arrivals, which each round draws anew, the least of the rounds.
func messagesDue(sc *scenario.Scenario, e driver.Entry, rounds int) (map[string]int64, error) {
	due := map[string]int64{}
	for _, part := range sc.Parts() {
		p, err := planOf(part.Scenario, e)
		if err != nil {
			return nil, err
		}
		n := p.Messages
		if !p.Exact && n > 0 && n <= drawnMost {
			if n, err = leastDrawn(part.Scenario, rounds); err != nil {
				return nil, err
			}
		}
		due[part.Name] = n
		if _, judged := due[""]; !judged && !part.Background {
			due[""] = n
		}
	}
	return due, nil
}

// drawnMost is the number of random arrivals up to which they are drawn to count them: of more, rounds
// differ by less than a percent.
const drawnMost = 1_000_000

// leastDrawn returns the least number of random arrivals in the window of any of the rounds.
func leastDrawn(s *scenario.Scenario, rounds int) (int64, error) {
	least := int64(math.MaxInt64)
	for round := range rounds {
		p, err := schedule.New(&s.Workload, s.Phases.Longest(), nextSeed(s.Seed, round))
		if err != nil {
			return 0, err
		}
		n := int64(0)
		for producer := range p.Producers() {
			n += int64(p.CountProducer(producer))
		}
		least = min(least, n)
	}
	return least, nil
}

// replaced is how many rounds of a cell are made at most, if the user says nothing, in place of unusable ones.
func replaced(rounds int) int { return (rounds + 1) / 2 }

// foregone says what the study cannot decide in this length or on this machine, before it is run.
func (p *studyPlan) foregone() ([]string, error) {
	if p.length == study.Quick {
		return []string{"quick decides nothing but what one round can show: " + p.study.Run(study.Default) + " decides"}, nil
	}
	all, err := p.study.Foregone(p.length, runtime.NumCPU(), p.leastDue)
	return each(all, func(x study.Foregone) string {
		can := " cannot be decided: "
		if x.Refutable {
			can = " can only be refuted: "
		}
		return x.Conclusion + can + x.Why + "; it takes " + x.Needs
	}), err
}

// leastDue returns how many messages of a cell's workload are due in each round at least, 0 if that is not known.
func (p *studyPlan) leastDue(c *study.Cell, workload string) int64 {
	for i := range p.cells {
		if p.cells[i].Name == c.Name {
			return p.cells[i].due[workload]
		}
	}
	return 0
}

// fileOf names the result of a trial.
func (p *studyPlan) fileOf(number string, at trials.Place) string {
	c, ext := &p.cells[at.Cell], ".jsonl"
	if _, ok := c.Bench(); ok {
		ext = benchExt
	}
	return fmt.Sprintf("%s-%s-round-%d%s", number, strings.ReplaceAll(c.Name, "/", "-"), at.Round, ext)
}

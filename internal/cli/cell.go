package cli

import (
	"crypto/sha256"
	"fmt"
	"time"

	"sixnines/driver"
	"sixnines/internal/engine"
	"sixnines/internal/trials"
	"sixnines/scenario"
)

// cell is one load of an experiment, ready to run.
type cell struct {
	// Cell is the cell in the manifest. Until [design.manifest] completes it, Digest
	// holds the settings beside the scenario that determine a trial.
	trials.Cell
	label    string // for people, unique in the experiment
	scenario *scenario.Scenario
	entry    driver.Entry
}

func newCell(s *scenario.Scenario, e driver.Entry) cell {
	return cell{Cell: trials.Cell{Set: randomHex(), Takes: s.Phases.Warmup + s.Phases.Duration}, scenario: s, entry: e}
}

// The time that a trial takes beside its window, as far as it is known before the trial.
const (
	startTakes = 2500 * time.Millisecond // a broker, until it answers
	readTakes  = 2 * time.Second         // reading back what the broker keeps
)

// lasts is about how long a trial lasts once its broker has started. A run whose actions can lose
// messages waits for them as long as it may, and nodes may answer again only after the window.
func (c *cell) lasts() time.Duration {
	s, over := c.scenario, time.Duration(0)
	if s.CanLose() {
		for _, a := range s.Acts() {
			if a.Restart != nil {
				over = max(over, a.End()+startTakes-s.Phases.Duration)
			}
		}
		over += s.Phases.Drain
	}
	if s.Phases.ReadBack > 0 {
		over += readTakes
	}
	return c.Takes + over
}

// digest identifies a cell's settings. Passwords and values of environment variables affect
// only its last four digits: enough to show that something has changed, too little to guess
// the value.
func (c *cell) digest() (string, error) {
	text, err := c.scenario.Redacted(c.entry.Secret).MarshalJSON()
	if err != nil {
		return "", fmt.Errorf("write the scenario down: %w", err)
	}
	t := c.scenario.Target
	var tls scenario.TLS
	if t.TLS != nil {
		tls = *t.TLS
	}
	hidden := sha256.Sum256(fmt.Appendf(nil, "%q %v %q %v", t.URL, t.Options, t.Settings, tls))
	return joinWords(fmt.Sprintf("%x-%x", sha256.Sum256(text), hidden[:2]), c.Digest), nil
}

// design is an experiment before anything is run.
type design struct {
	name     string // of its directory
	kind     string
	seed     uint64 // of the order
	rounds   int
	cells    []cell
	pairs    []trials.Pair  // cells that may be made at the same time
	places   []trials.Place // the trials that are known before the first, in order
	sameSeed bool           // all rounds have one seed; else each has the next one
	// file names the result of a trial; number is its place in the order.
	file func(number string, at trials.Place) string
}

// manifest is the design as a series keeps it.
func (d *design) manifest() (trials.Manifest, error) {
	m := trials.Manifest{Kind: d.kind, Seed: d.seed, Rounds: d.rounds, Pairs: d.pairs}
	known := map[engine.Input]string{} // digests of files, each read once however many cells have it
	for i := range d.cells {
		c := d.cells[i] // a copy: a design can be written down again
		var err error
		if c.Digest, err = c.digest(); err != nil {
			return m, err
		}
		for _, in := range engine.Inputs(c.scenario) {
			if known[in] == "" {
				if known[in], err = in.Digest(); err != nil {
					return m, runFault(err, c.scenario, c.entry, false)
				}
			}
			if c.Inputs == nil {
				c.Inputs = map[string]string{}
			}
			c.Inputs[in.Name] = known[in]
		}
		m.Cells = append(m.Cells, c.Cell)
	}
	digits := len(fmt.Sprint(len(d.places)))
	for i, at := range d.places {
		seed := d.cells[at.Cell].scenario.Seed
		if !d.sameSeed {
			seed = nextSeed(seed, at.Round-1)
		}
		m.Trials = append(m.Trials, trials.Trial{Cell: at.Cell, Round: at.Round, Seed: seed, File: d.file(fmt.Sprintf("%0*d", digits, i+1), at)})
	}
	return m, nil
}

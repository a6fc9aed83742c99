// Package study has the built-in studies: publications about brokers, with the loads that
// reproduce them, their figures as printed, and tests of their conclusions.
//
// A study is data: data/NAME/study.yaml, which [Parse] decodes strictly and checks,
// including every reference in it. [Study.Cells] combines systems and loads to scenarios.
// The package does not run them: [Decide] takes their results and decides for each
// conclusion whether the results agree, disagree, or do not decide it, in words with
// figures; [Read] reads a figure of a run. Both use only records, so that their answers can
// be computed again from the files.
package study

import (
	"math"
	"regexp"
	"strconv"

	"go.yaml.in/yaml/v4"

	"sixnines/result"
)

// Study is a set of cells with the conclusions to be tested on them.
type Study struct {
	Name     string    `yaml:"name"`               // as in "sixnines study run NAME"
	Title    string    `yaml:"title"`              // of the page
	Question string    `yaml:"question"`           // one line
	Original *Original `yaml:"original,omitempty"` // nil: a study without a publication
	Story    []string  `yaml:"story"`              // paragraphs: what was done and why it matters
	// Disturbed says that systems are changed on purpose while they are measured: a change
	// of level then does not make a run's figures unfit.
	Disturbed bool `yaml:"disturbed,omitempty"`
	// Argument is the broker and the versions from which the systems are made; nil: the
	// systems are fixed.
	Argument *Argument `yaml:"argument,omitempty"`
	// Base is the first layer of every cell's scenario.
	Base        Layer        `yaml:"base,omitempty"`
	Systems     []System     `yaml:"systems"`
	Loads       []Load       `yaml:"loads"`
	Selections  []Selection  `yaml:"cells"` // which systems are measured under which loads
	Beside      []Beside     `yaml:"beside,omitempty"`
	Lengths     Lengths      `yaml:"lengths"`
	Figures     []Figures    `yaml:"figures,omitempty"` // as printed in the original
	Sections    []Section    `yaml:"sections"`          // of the page, in order
	Conclusions []Conclusion `yaml:"conclusions,omitempty"`
	Caveats     []Caveat     `yaml:"caveats,omitempty"`
	Slips       []Slip       `yaml:"slips,omitempty"`

	file string     // the file name in errors
	text []byte     // as it was read
	root *yaml.Node // of the text, for positions; with an argument, template with the argument applied
	// template is the text as it was written, before the example argument was applied.
	template *yaml.Node
	cells    []string // names of the cells of any length
	of       string   // the argument that [Study.With] applied; empty: none
}

// Original is the publication that a study repeats.
type Original struct {
	Author   string `yaml:"author"`
	Title    string `yaml:"title"`
	Date     string `yaml:"date,omitempty"`
	Setting  string `yaml:"setting"`  // where, what, for how long
	Versions string `yaml:"versions"` // versions of the measured systems
	// Unprinted is [Test.Unprinted] of all tests, of an original that printed no figures.
	Unprinted string `yaml:"unprinted,omitempty"`
}

// System is one measured system: a broker, or a configuration of one.
type System struct {
	Name     string `yaml:"name"`               // first part of the names of its cells
	Title    string `yaml:"title"`              // for output
	Scenario Layer  `yaml:"scenario,omitempty"` // merged over Study.Base
	// StandsFor says what the author measured, if this system replaces it.
	StandsFor string `yaml:"stands_for,omitempty"`
	// At has the system's values on the axes of charts, by the axis's name.
	At map[string]float64 `yaml:"at,omitempty"`
	// For repeats this system: once for each combination of the values, which replace
	// {NAME} in its texts. Values that are numbers also become values in At.
	For Ranges `yaml:"for,omitempty"`

	from int // its index in the text's list of systems
}

// Load is a load under which systems are measured.
type Load struct {
	// Bench names a micro-benchmark of Go that is run instead of a scenario, see package
	// gofast, on the number of processors in the system's At "processors", for the length of
	// the scenario's window.
	Bench    string             `yaml:"bench,omitempty"`
	Name     string             `yaml:"name"`               // second part of the names of its cells
	Title    string             `yaml:"title"`              // for output
	Scenario Layer              `yaml:"scenario,omitempty"` // merged over that of the system
	At       map[string]float64 `yaml:"at,omitempty"`       // as System.At
	For      Ranges             `yaml:"for,omitempty"`      // as System.For

	from int
}

// Layer is a part of a scenario, as it is written. Layers are merged mapping by mapping; a
// null value removes its key.
type Layer = yaml.Node

// Selection says which systems are measured under which loads: patterns of
// [path.Match].
type Selection struct {
	Systems  []string `yaml:"systems"`            // patterns of names of systems
	Loads    []string `yaml:"loads"`              // patterns of names of loads
	Scenario Layer    `yaml:"scenario,omitempty"` // merged over that of the load
	Lengths  []string `yaml:"lengths,omitempty"`  // the lengths that have it; none: all
}

// Lengths are the lengths in which a study can be run.
type Lengths struct {
	Quick   Length `yaml:"quick"`
	Default Length `yaml:"default"`
	Full    Length `yaml:"full"`
}

// The names of the lengths.
const (
	Quick   = "quick"
	Default = "default"
	Full    = "full"
)

// Length says how often and how long each cell runs.
type Length struct {
	Rounds int `yaml:"rounds"` // of each cell, 1 to 1000
	// Looks are after how many rounds the tests are decided that can be, before Rounds, which is the last look. A cell
	// whose tests are all decided is made in no more rounds; one that no test uses, in those until the first look.
	Looks    []int `yaml:"looks,omitempty"`
	Scenario Layer `yaml:"scenario,omitempty"` // merged over that of the selections
	// Loads are settings for the cells of some loads only, by pattern.
	Loads []LengthLoad `yaml:"loads,omitempty"`
	// Cells are patterns of the cells that the length has; none: all.
	Cells []string `yaml:"cells,omitempty"`
}

// LengthLoad is what a length sets for the cells that its patterns match.
type LengthLoad struct {
	Cells    []string `yaml:"cells"`
	Rounds   int      `yaml:"rounds,omitempty"` // 0: the length's, with its looks
	Looks    []int    `yaml:"looks,omitempty"`  // as [Length.Looks], of Rounds; none: only after all
	Scenario Layer    `yaml:"scenario,omitempty"`
}

// Figures are figures as the original printed them: a table of rows, or a single one.
type Figures struct {
	Source string `yaml:"source"` // such as "table 2", "text"
	Unit   string `yaml:"unit,omitempty"`
	Note   string `yaml:"note,omitempty"`
	// Columns are the names of the figures in Rows, as for [Read]; Rows are by the name of
	// the cell. A value that was not printed is .nan.
	Columns []string             `yaml:"columns,omitempty"`
	Rows    map[string][]Printed `yaml:"rows,omitempty"`
	// Cell, Figure and Value are a single figure; Words is what the original says about
	// it. A figure that was not given as a number has Words only.
	Cell   string  `yaml:"cell,omitempty"`
	Figure string  `yaml:"figure,omitempty"`
	Value  Printed `yaml:"value,omitempty"`
	Words  string  `yaml:"words,omitempty"`
}

// Printed is a number with the digits as printed: 0.3750 says more than 0.375. It is .nan if
// no number was printed.
type Printed string

var printedForm = regexp.MustCompile(`^([0-9]+(\.[0-9]+)?|\.nan)$`)

// Number returns the number, NaN if none was printed.
func (p Printed) Number() float64 {
	x, err := strconv.ParseFloat(string(p), 64)
	if err != nil {
		return math.NaN()
	}
	return x
}

// Section is a section of the page, in the original's order.
type Section struct {
	Title       string   `yaml:"title"`
	Text        []string `yaml:"text,omitempty"`
	Charts      []Chart  `yaml:"charts,omitempty"`
	Tables      []Table  `yaml:"tables,omitempty"`
	Conclusions []string `yaml:"conclusions,omitempty"` // by name
}

// The kinds of charts.
const (
	ChartPercentiles = "percentiles" // latency by percentile, a curve for each cell
	ChartTime        = "time"        // Show over the time of a run
	ChartOver        = "over"        // figures over an axis, a curve for each system
	ChartBars        = "bars"        // figures of each cell side by side
)

// What a chart over time shows.
const (
	ShowRate    = "rate"
	ShowLatency = "latency"
	ShowMemory  = "memory"  // of the broker
	ShowBacklog = "backlog" // sent and not received
	ShowDisk    = "disk"    // what the broker reads from disk
)

// Chart is a chart of cells.
type Chart struct {
	Kind  string   `yaml:"kind"`
	Title string   `yaml:"title"`
	Cells []string `yaml:"cells"` // patterns
	// Metric is the latency shown; empty: the first response time that the runs have, or
	// else the first service time.
	Metric   result.Metric `yaml:"metric,omitempty"`
	Workload string        `yaml:"workload,omitempty"` // of several; empty: the first that is judged
	Figures  []string      `yaml:"figures,omitempty"`  // over, bars
	Over     string        `yaml:"over,omitempty"`     // over: the axis
	Show     []string      `yaml:"show,omitempty"`     // time: one panel each
	// Corrected adds the service time with HdrHistogram's correction, as tools with a
	// synchronous requester publish it. Only for ChartPercentiles.
	Corrected bool `yaml:"corrected,omitempty"`
}

// What the rows of a table are.
const (
	RowsSystems = "systems" // a row for each system; columns repeat for each load
	RowsLoads   = "loads"   // a row for each load; columns repeat for each system
	RowsCells   = "cells"   // a row for each cell
)

// Table is a table of cells' figures.
type Table struct {
	Title    string        `yaml:"title"`
	Rows     string        `yaml:"rows"`
	Cells    []string      `yaml:"cells"`   // patterns
	Columns  []string      `yaml:"columns"` // figures, as [Read] names them
	Metric   result.Metric `yaml:"metric,omitempty"`
	Workload string        `yaml:"workload,omitempty"`
	Original bool          `yaml:"original,omitempty"` // the original's figures are shown beside
}

// Conclusion is one conclusion of the author.
type Conclusion struct {
	Name  string `yaml:"name"`
	Claim string `yaml:"claim"` // the author's, in short
	// Share is the share, 0 to 1, of the tests that must agree, if the claim is about a
	// share; 0: all tests.
	Share float64 `yaml:"share,omitempty"`
	Tests []Test  `yaml:"tests"`
}

// The kinds of tests.
const (
	KindFaster      = "faster"      // A is below B at each of Figures, round by round; the same within Margin, if there is one, is not
	KindBelow       = "below"       // the figures of Cells are below Bound
	KindAbove       = "above"       // the figures of Cells are above Bound
	KindRatio       = "ratio"       // A's figure ÷ B's is AtLeast, or AtMost
	KindEquivalent  = "equivalent"  // A and B differ by no more than Margin
	KindMonotone    = "monotone"    // Figures rise, or fall, from each of Cells to the next
	KindShare       = "share"       // in at least Share of Cells a figure is AtLeast, or AtMost
	KindSteady      = "steady"      // the runs of Cells are of Class
	KindNone        = "none"        // Figures of Cells are 0 in all rounds
	KindSome        = "some"        // Figures of each of Cells are above 0 in some round
	KindUndecidable = "undecidable" // cannot be decided by runs: Why says why, Needs what is needed
	KindArithmetic  = "arithmetic"  // Function of Of is Value, within Margin
)

// Test is one condition of a conclusion. Its kind decides which fields it has.
type Test struct {
	Kind     string        `yaml:"kind"`
	A        string        `yaml:"a,omitempty"` // A and B are names of cells
	B        string        `yaml:"b,omitempty"`
	Cells    []string      `yaml:"cells,omitempty"`   // patterns; monotone: names, in order
	Figures  []string      `yaml:"figures,omitempty"` // each must hold; ratio, share: one, which may be p99.99/p99
	Metric   result.Metric `yaml:"metric,omitempty"`
	Workload string        `yaml:"workload,omitempty"`
	// Bound is a duration, such as 1ms, for latencies, else a number.
	Bound   string   `yaml:"bound,omitempty"`
	AtLeast *float64 `yaml:"at_least,omitempty"`
	AtMost  *float64 `yaml:"at_most,omitempty"`
	// Margin is a relative change: 0.2 is a factor of 1.2 or 1/1.2.
	Margin    float64 `yaml:"margin,omitempty"`
	Share     float64 `yaml:"share,omitempty"`     // of the cells: 0.75 is three of four
	Direction string  `yaml:"direction,omitempty"` // "rising" or "falling"
	Class     string  `yaml:"class,omitempty"`     // as result.Trend.Class has it
	Why       string  `yaml:"why,omitempty"`
	Needs     string  `yaml:"needs,omitempty"`

	Function string    `yaml:"function,omitempty"`
	Of       []float64 `yaml:"of,omitempty"`
	Value    float64   `yaml:"value,omitempty"`

	// Processors is the least number of processors of a machine that can decide the test, where
	// clients and broker share them; 0: any machine can.
	Processors int `yaml:"processors,omitempty"`

	// Theirs is the author's own number for what is compared, where it does not follow from
	// Study.Figures: A ÷ B, a share, or the figure of below and above with its unit. Unprinted says
	// what there is of the author's where there is no number, such as a chart. Of a study with an
	// original a test has one of the three, and the author's numbers must pass it: else Slip says
	// how the author contradicts the claim.
	Theirs    string `yaml:"theirs,omitempty"`
	Unprinted string `yaml:"unprinted,omitempty"`
	Slip      string `yaml:"slip,omitempty"`
}

// Caveat is a reservation that the author states.
type Caveat struct {
	Text  string `yaml:"text"`
	Holds string `yaml:"holds"` // whether it applies here, and what is done instead
}

// Slip is an error in the original; it is printed beside the part that it concerns.
type Slip struct {
	Where string `yaml:"where"` // the title of a section, or the name of a conclusion
	Text  string `yaml:"text"`
}

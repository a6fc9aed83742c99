package report

import (
	_ "embed"
	"encoding/json"
	"io"
	"math"

	"sixnines/result"
)

// SummaryFormat and SummaryVersion identify the JSON form of a summary. Keys keep
// their meaning within a version; new ones come at the end.
const (
	SummaryFormat  = "sixnines-summary"
	SummaryVersion = 1
)

//go:embed summary.schema.json
var summarySchema []byte

// SummarySchema returns the JSON Schema, draft 2020-12, of what [JSON] writes. A
// test makes it from the types and their comments.
func SummarySchema() []byte { return summarySchema }

// SummaryObject is the JSON form of a run's summary. The order of its fields
// is part of the format; new ones go to the end.
type SummaryObject struct {
	Verdict     result.Verdict                         `json:"verdict"` // whether to believe the figures, and why not
	Counters    result.Counters                        `json:"counters"`
	Connections *result.Connections                    `json:"connections,omitempty"`
	Rate        result.Rate                            `json:"rate"`
	Throughput  *result.Throughput                     `json:"throughput,omitempty"`
	Histograms  map[result.Metric]*result.Distribution `json:"histograms"` // by metric, times in ns
	Result      string                                 `json:"result"`     // path of the result file; empty: no file
	ID          string                                 `json:"id"`         // of the run, random, 16 hexadecimal digits
	Name        string                                 `json:"name"`       // of the scenario
	Driver      string                                 `json:"driver"`
	Pattern     string                                 `json:"pattern"`
	Mode        string                                 `json:"mode"`
	Size        int64                                  `json:"size"`        // bytes of a payload; where they differ their mean
	SameHost    bool                                   `json:"same_host"`   // broker and generator share this machine's processors
	WindowNs    int64                                  `json:"window_ns"`   // length of the measured window, ns
	Interrupted bool                                   `json:"interrupted"` // somebody ended the window early
	CutShort    bool                                   `json:"cut_short"`   // the file ends before the run did
	Steady      *result.Steady                         `json:"steady,omitempty"`
	Attribution []result.Attribution                   `json:"attribution,omitempty"`
	Objectives  []result.Objective                     `json:"objectives,omitempty"`
	Trial       *result.Trial                          `json:"trial,omitempty"`
	Floor       *result.Floor                          `json:"floor,omitempty"`
	Tail        []result.Exemplar                      `json:"tail,omitempty"` // the slowest messages, slowest first within a metric
	Until       *result.Until                          `json:"until,omitempty"`

	Availability *result.Availability `json:"availability,omitempty"`

	Workload   string `json:"workload,omitempty"`   // of several, which
	FromNs     int64  `json:"from_ns,omitempty"`    // when the workload's window begins in that of the run, ns
	Background bool   `json:"background,omitempty"` // the workload is not judged

	Synchronous *result.Synchronous `json:"synchronous,omitempty"`
	Backlog     *result.Backlog     `json:"kept,omitempty"`

	Costs      []result.Cost                          `json:"costs,omitempty"`       // what actions cost
	Outside    map[result.Metric]*result.Distribution `json:"outside,omitempty"`     // response times outside of their effects
	ClosedLoop *result.Distribution                   `json:"closed_loop,omitempty"` // what a closed loop would have told

	Unexplained *result.Unexplained `json:"unexplained,omitempty"` // losses and the like that no action explains
	Left        []result.Leftover   `json:"left,omitempty"`        // what of the run is still at the broker
	ReadBack    *result.ReadBack    `json:"read_back,omitempty"`   // what the broker had kept when the run was over
	Networks    []*result.Network   `json:"networks,omitempty"`    // conditions of the network: of the whole run, then those of actions, in order of time

	Format  string `json:"format"` // SummaryFormat
	Version int    `json:"version"`
}

// JSON writes the summary of a run as one object on one line: verdict, counters, rate,
// throughput, histograms, the path of the result file, and what was run. If known, it also
// has the steadiness of the run, the slowest messages and their causes, the outcomes of
// objectives, the run's place in a set, the machine's noise floor, and the precision of
// the percentile of Until. All times are in nanoseconds. Keys keep their order from
// version to version.
func JSON(w io.Writer, run *result.Run) error {
	s := subjectOf(run)
	h := &run.Header
	o := SummaryObject{
		Verdict: s.sum.Verdict, Counters: s.sum.Counters, Connections: s.sum.Connections, Rate: s.sum.Rate, Throughput: s.sum.Throughput,
		Histograms: s.sum.Histograms, Result: run.Path,
		ID: h.ID, Name: h.Name, Driver: h.Driver, Pattern: h.Pattern, Mode: h.Mode, Size: h.Size,
		SameHost: h.SameHost, WindowNs: window(s), Interrupted: s.sum.Interrupted, CutShort: s.cut,
		Steady: s.sum.Steady, Attribution: s.sum.Attribution, Objectives: s.sum.Objectives, Trial: h.Trial, Floor: h.Floor, Tail: run.Tail, Until: s.sum.Until,
		Availability: s.sum.Availability,
		Workload:     h.Workload, FromNs: int64(h.From), Background: h.Background,
		Synchronous: h.Synchronous,
		Backlog:     s.sum.Backlog,
		Costs:       s.sum.Costs, Outside: s.sum.Outside, ClosedLoop: s.sum.ClosedLoop,
		Unexplained: s.sum.Unexplained, Left: s.sum.Left, ReadBack: s.sum.ReadBack, Networks: networksOf(run),
		Format: SummaryFormat, Version: SummaryVersion,
	}
	if o.Verdict.Reasons == nil {
		o.Verdict.Reasons = []result.Reason{} // a list, also when empty
	}
	if o.Histograms == nil {
		o.Histograms = map[result.Metric]*result.Distribution{}
	}
	o.Rate = result.Rate{Asked: finite(o.Rate.Asked), Due: finite(o.Rate.Due), Sent: finite(o.Rate.Sent), WorstSecond: finite(o.Rate.WorstSecond)}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(o)
}

// finite replaces NaN and infinities, which JSON cannot represent, by 0, which means
// that there is no rate.
func finite(v float64) float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	return v
}

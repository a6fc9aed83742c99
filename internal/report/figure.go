package report

import (
	"slices"

	"sixnines/result"
)

// figure is one published percentile (or the maximum) of one metric, with what the verdict
// says about it.
type figure struct {
	result.Figure
	Percentile     result.Percentile // or [result.Maximum]
	Messages       int64             // resolved messages of the metric
	Absent         bool              // the metric has no messages
	Unstable       bool              // withheld: a response percentile of an overloaded run
	SuspectReasons []result.Reason   // reasons of the verdict that apply from this figure on
	Limit          string            // from this figure on the metric is suspect or invalid: which and why; empty: the limit is elsewhere
	Suspect        bool              // by the verdict, at or beyond the metric's limit or as the whole run
	Invalid        bool              // the same; then Suspect is set too
}

// fewEpisodes is the number of episodes below which a percentile describes the
// run and not the system.
const fewEpisodes = 4

// ok reports whether the figure is a number.
func (f figure) ok() bool { return !f.Absent && f.Needs == 0 && !f.Unstable && !f.Refused }

// refused replaces a figure that refused messages reach.
const refused = "refused"

// text returns the figure as a cell: "81.2 µs", "~ 1.21 s", "≥ 2.00 s", "refused",
// "n/a (needs 368)".
func (f figure) text() string {
	switch {
	case f.Absent:
		return "–"
	case f.Unstable:
		return "n/a (unstable)"
	case f.Needs > 0:
		return "n/a (needs " + count(f.Needs) + ")"
	case f.Refused:
		return refused
	}
	return f.sign() + duration(f.Value)
}

// sign returns the mark before the number.
func (f figure) sign() string {
	sign := ""
	switch {
	case f.Invalid:
		sign = "✗ "
	case f.Suspect:
		sign = "? "
	}
	switch {
	case f.AtLeast:
		return sign + "≥ "
	case f.Few:
		return sign + "~ "
	}
	return sign
}

// isSuspect reports whether the verdict says that the figure cannot be trusted.
func (f figure) isSuspect() bool { return f.Suspect || len(f.SuspectReasons) > 0 }

// stands returns the status of the figure by the verdict, see [result.Verdict.Of].
func (f figure) stands() result.Status {
	switch {
	case f.Invalid:
		return result.Invalid
	case f.Suspect:
		return result.Suspect
	}
	return result.Valid
}

// interval returns the 95 % interval as a cell; empty if the figure has none.
func (f figure) interval() string {
	i := f.Interval
	switch {
	case !f.ok() && !(f.Refused && !f.Unstable) || i == nil:
		return ""
	case i.OpenRefused:
		return duration(i.Low) + " – " + refused
	case i.Open:
		return duration(i.Low) + " – ≥ " + duration(i.High)
	}
	return duration(i.Low) + " – " + duration(i.High)
}

// blocks returns the interval from resampled stretches as a cell; "n/a" if it could not be
// computed, empty if that was not tried.
func (f figure) blocks() string {
	switch {
	case !f.ok():
		return ""
	case f.Blocks != nil:
		return duration(f.Blocks.Low) + " – " + duration(f.Blocks.High)
	case f.BlocksNA != "":
		return "n/a"
	}
	return ""
}

// nearFloor reports whether the figure is so close to the noise floor that it describes the
// machine as much as the broker.
func (f figure) nearFloor() bool {
	return f.ok() && f.FloorRatio != nil && *f.FloorRatio < floorFactor
}

// fewEvents reports whether the figure describes the run and not the system.
func (f figure) fewEvents() bool { return f.ok() && f.Episodes > 0 && f.Episodes < fewEpisodes }

// sequential reports whether the figure's interval holds whenever the run ended.
func (f figure) sequential() bool { return f.ok() && f.Interval != nil && f.Interval.Sequential }

// own returns the own-lag share as a cell; empty if it is not known.
func (f figure) own() string {
	if !f.ok() || f.OwnShare == nil {
		return ""
	}
	return share(*f.OwnShare)
}

// notes returns the remarks beside the figure.
func (f figure) notes() []string {
	var out []string
	if f.fewEvents() {
		out = append(out, plural(int64(f.Episodes), "event")+": describes this run, not the system")
	}
	if f.Refused && !f.Unstable {
		out = append(out, "refused messages reach it")
	}
	if f.ok() && f.AtLeast {
		out = append(out, "lower bound: unresolved messages reach it")
	}
	if f.sequential() {
		out = append(out, "its interval holds no matter when the run ended (--until)")
	}
	if f.nearFloor() {
		out = append(out, "only "+timesFloor(*f.FloorRatio)+" the noise floor")
	}
	for _, d := range f.SuspectReasons {
		out = append(out, plain(string(d.Status))+": "+plain(string(d.Code)))
	}
	if f.Limit != "" && len(f.SuspectReasons) == 0 {
		out = append(out, plain(f.Limit))
	}
	return out
}

// mark returns the figure's qualifications for programs: words of a closed list, joined by
// "+"; empty for a figure without any.
func (f figure) mark() string {
	var out string
	add := func(when bool, word string) {
		switch {
		case !when:
		case out == "":
			out = word
		default:
			out += "+" + word
		}
	}
	add(f.Needs > 0, "unsupported")
	add(f.Unstable, "unstable")
	add(f.Refused, refused)
	add(f.AtLeast && !f.Refused, "at-least")
	add(f.Few, "few")
	add(f.fewEvents(), "few-events")
	add(f.nearFloor(), "near-floor")
	add(f.sequential(), "sequential")
	add(f.Invalid, "invalid")
	add(f.isSuspect() && !f.Invalid, "suspect")
	return out
}

// column is one metric of a table.
type column struct {
	Metric  result.Metric
	Of      result.Metric // the metric itself, or the one that Metric is the successes or the correction of
	Head    string        // "response"
	Dist    *result.Distribution
	Figures []figure // one for each of rows()
	// Corrected says that the column is not measured: it is a service time with
	// HdrHistogram's correction.
	Corrected bool
	Note      string // explains a corrected column to users
}

// at is the figure of a percentile of rows().
func (c *column) at(percentile result.Percentile) figure {
	return c.Figures[slices.Index(rows(), percentile)]
}

// hasOwnLag reports whether any figure's own share is known.
func (c *column) hasOwnLag() bool {
	return slices.ContainsFunc(c.Figures, func(f figure) bool { return f.own() != "" })
}

// hasFloor reports whether any figure has a noise floor to compare with.
func (c *column) hasFloor() bool {
	return slices.ContainsFunc(c.Figures, func(f figure) bool { return f.ok() && f.FloorRatio != nil })
}

// hasIntervals reports whether any figure has an interval; corrected figures have no valid
// interval.
func (c *column) hasIntervals() bool {
	return !c.Corrected && slices.ContainsFunc(c.Figures, func(f figure) bool { return f.interval() != "" })
}

// hasBlocks reports whether any figure has an interval from stretches of the
// run.
func (c *column) hasBlocks() bool {
	return slices.ContainsFunc(c.Figures, func(f figure) bool { return f.ok() && f.Blocks != nil })
}

// family is a table of related metrics.
type family struct {
	Name    string // "Delivery latency"
	Key     string // "delivery": for anchors
	About   string // what its columns are, for people
	Columns []column
	// Apart families have no table of percentiles: a section shows them.
	Apart bool
}

// find returns the column of a metric, nil if the family lacks it.
func (f *family) find(m result.Metric) *column {
	for i := range f.Columns {
		if f.Columns[i].Metric == m {
			return &f.Columns[i]
		}
	}
	return nil
}

// rows are the percentiles of a table, the maximum last.
func rows() []result.Percentile { return append(result.Percentiles(), result.Maximum) }

// rowName is "p99.9" or "max".
func rowName(percentile result.Percentile) string {
	if percentile == result.Maximum {
		return string(percentile)
	}
	return "p" + plain(string(percentile)) // it may be a file's
}

// kinds lists all families, in the order of reports.
func kinds() []family {
	col := func(m result.Metric, head string) column { return column{Metric: m, Of: m, Head: head} }
	return []family{
		{Name: "Delivery latency", Key: "delivery",
			About: "Response counts from the instant a message was due, service from the instant it was handed to the client; both end when the consumer receives it. Their difference is what a closed loop would have hidden.",
			Columns: []column{col(result.DeliveryResponse, "response"), col(result.DeliveryService, "service"), corrected(result.DeliveryService),
				col(result.DeliveryLast, "last consumer")}},
		{Name: "Round-trip latency", Key: "roundtrip",
			About:   "Response counts from the instant a message was due, service from the instant it was handed to the client; both end when the reply is back. Their difference is what a closed loop would have hidden.",
			Columns: []column{col(result.RoundTripResponse, "response"), col(result.RoundTripService, "service"), corrected(result.RoundTripService)}},
		{Name: "Publish latency", Key: "publish",
			About:   "Response counts from the instant a message was due, service from the instant it was handed to the client; both end when the broker acknowledged it. Their difference is what a closed loop would have hidden.",
			Columns: []column{col(result.PublishResponse, "response"), col(result.PublishService, "service"), corrected(result.PublishService)}},
		{Name: "Opening of connections", Key: "connection",
			About:   "Connections that come and go beside those of the messages. Each column counts from the instant at which a connection was due to be opened: until the network connection was made, until the broker had accepted the login, and until the consumer had subscribed.",
			Columns: []column{col(result.ConnectionConnect, "connected"), col(result.ConnectionLogin, "logged in"), col(result.ConnectionSubscribe, "subscribed")}},
		{Name: "Service time of the probe", Key: "probe",
			About:   "The probe is one producer and one consumer at a low rate, in a separate process, or on an agent of a fleet that has no part in the load, and on a separate topic, that measure the same broker at the same time. If the load's service time is longer than the probe's, the difference is in the load's own connections, queues or client.",
			Columns: []column{col(result.ProbeService, "service")}},
		{Name: "Lag", Key: "lag",
			About:   "How late messages were sent, and how late deliveries, replies and acknowledgements were read. Own lag is the generator's own delay in sending. Blocked lag is caused by a blocked send or a full in-flight limit, so by the system under test. Receive lag is how long a delivery or reply (or an acknowledgement) waited in this machine before it was read: the generator's own delay in receiving, a part of the service time.",
			Columns: []column{col(result.LagOwn, "own"), col(result.LagBlocked, "blocked"), col(result.LagReceive, "receive"), col(result.LagReceiveAck, "receive (ack)")}},
		{Name: "Stages of the service time", Key: "stage", Apart: true,
			About:   "For a sample of the messages: from the send call until the client wrote to the socket, then until the answer arrived at this machine, then until it was read, then until the callback. These are upper bounds if the client writes or reads several messages at a time.",
			Columns: []column{col(result.StageClient, "to the socket"), col(result.StageBroker, "to the arrival"), col(result.StageReceive, "to the read"), col(result.StageCallback, "to the callback")}},
	}
}

// succeededOf returns the name of a metric without its refused messages.
func succeededOf(m result.Metric) result.Metric { return m + ".succeeded" }

// tabled lists the families that have tables: kinds, with the latency of the messages that
// succeeded after each latency.
func tabled() []family {
	var out []family
	for _, f := range kinds() {
		out = append(out, f)
		if f.Key == "lag" || f.Apart {
			continue
		}
		twin := family{Name: f.Name + ", succeeded only", Key: f.Key + "-succeeded",
			About: "The same without the refused messages: latencies of those that succeeded. " + f.About}
		for _, c := range f.Columns {
			if !c.Corrected {
				twin.Columns = append(twin.Columns, column{Metric: succeededOf(c.Metric), Of: c.Metric, Head: c.Head})
			}
		}
		out = append(out, twin)
	}
	return out
}

// families builds the tables of a run from its summary, without metrics that were not
// measured and without empty families.
func families(r *result.Run, sum *result.Summary) []family {
	var out []family
	for _, f := range tabled() {
		var cols []column
		for _, c := range f.Columns {
			judged := c.Of
			switch c.Dist = sum.Histograms[c.Of]; {
			case c.Dist == nil:
			case c.Corrected:
				c.Dist, c.Note, judged = c.Dist.Corrected, correctedNote(&r.Header), c.Metric
			case c.Metric != c.Of:
				c.Dist = c.Dist.Succeeded
			}
			if c.Dist == nil {
				continue
			}
			for _, p := range rows() {
				c.Figures = append(c.Figures, newFigure(judged, p, c.Dist, sum.Verdict))
			}
			cols = append(cols, c)
		}
		if f.Columns = cols; len(cols) > 0 {
			out = append(out, f)
		}
	}
	return out
}

// worth marks the figure as worth what the verdict says.
func (f *figure) worth(is result.Status) {
	f.Suspect, f.Invalid = is != result.Valid, is == result.Invalid
}

// newFigure collects what the summary says about one percentile.
func newFigure(m result.Metric, p result.Percentile, d *result.Distribution, v result.Verdict) figure {
	f := figure{Percentile: p, Messages: d.Count}
	for _, r := range v.Reasons {
		if r.Metric == m && r.Percentile == p && r.Status != result.Valid {
			f.SuspectReasons = append(f.SuspectReasons, r)
		}
	}
	f.worth(v.Of(m, p))
	switch l := v.Limit(m); {
	case l == nil:
	case l.InvalidFrom == p:
		f.Limit = string(result.Invalid) + ": " + l.InvalidWhy
	case l.From == p:
		f.Limit = string(result.Suspect) + ": " + l.Why
	}
	if d.Total() == 0 {
		f.Absent = true
		return f
	}
	known := false
	f.Figure, known = d.At(p)
	if p == result.Maximum {
		// Unresolved messages took longer than the run waited, so that the value is a lower bound.
		f.AtLeast = f.AtLeast || d.Censored > 0 && m != result.LagOwn && m != result.LagBlocked
		return f
	}
	if !known {
		f.Needs = max(f.Needs, 1)
		return f
	}
	f.Unstable = v.Status == result.Unstable && m.IsResponse()
	f.Interval, f.Blocks, f.BlocksNA = nonZero(f.Interval), nonZero(f.Blocks), plain(f.BlocksNA)
	return f
}

// nonZero returns an interval, nil for one of zeros, which is not shown.
func nonZero(i *result.Bounds) *result.Bounds {
	if i == nil || i.Low == 0 && i.High == 0 {
		return nil
	}
	return i
}

// ends returns an interval, zeros for nil.
func ends(i *result.Bounds) result.Bounds {
	if i == nil {
		return result.Bounds{}
	}
	return *i
}

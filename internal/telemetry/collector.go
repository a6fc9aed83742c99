package telemetry

import (
	"reflect"
	"strconv"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"sixnines/result"
)

// prefix begins the names of all families.
const prefix = "sixnines_"

// own are the labels that every series has.
var own = []string{"run", "workload"}

// family returns the description of a family; extra are its labels besides own.
func family(name, help string, extra ...string) *prometheus.Desc {
	return prometheus.NewDesc(prefix+name, help, append(own[:len(own):len(own)], extra...), nil)
}

// histogramName returns the name of a metric's family without the prefix: the family of
// delivery.response is sixnines_delivery_response_seconds.
func histogramName(m result.Metric) string {
	return strings.ReplaceAll(string(m), ".", "_") + "_seconds"
}

// counterNames returns the names of the counters as in result files, in their order.
func counterNames() []string {
	var names []string
	t := reflect.TypeFor[result.Counters]()
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}

// collector exposes loads to Prometheus's library. Its families are not known
// in advance, so it is an unchecked collector: Describe sends nothing.
type collector struct {
	loads func() (phase string, all []*load)
}

// Describe implements prometheus.Collector.
func (collector) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (c collector) Collect(to chan<- prometheus.Metric) {
	phase, all := c.loads()
	if phase != "" {
		to <- prometheus.MustNewConstMetric(prometheus.NewDesc(prefix+"preparing",
			"1 while a run is being set up.", []string{"phase"}, nil), prometheus.GaugeValue, 1, phase)
	}
	for _, l := range all {
		l.collect(to)
	}
}

// collect sends the metrics of one load.
func (l *load) collect(to chan<- prometheus.Metric) {
	h := &l.header
	gauge := func(name, help string, v float64, labels ...string) {
		var keys, values []string
		for i := 0; i < len(labels); i += 2 {
			keys, values = append(keys, labels[i]), append(values, labels[i+1])
		}
		to <- prometheus.MustNewConstMetric(family(name, help, keys...), prometheus.GaugeValue, v, append([]string{h.ID, h.Workload}, values...)...)
	}
	gauge("run_info", "What is measured, and by which version of Sixnines.", 1, "name", h.Name, "driver", h.Driver, "broker", broker(h),
		"pattern", h.Pattern, "mode", h.Mode, "version", h.Tool.Version, "background", strconv.FormatBool(h.Background), "same_host", strconv.FormatBool(h.SameHost))
	gauge("window_start_timestamp_seconds", "When the measured window began.", seconds(float64(h.Started.UnixNano())))
	gauge("asked_rate", "Messages a second by the schedule; 0 without one.", h.Rate)
	gauge("payload_bytes", "Bytes of a payload, where they differ their mean.", float64(h.Size))
	if l.phase != "" {
		gauge("phase", "1 for the phase in which the run is: warm-up, measure or drain.", 1, "phase", l.phase)
		gauge("in_flight_messages", "Unacknowledged or undelivered, whichever are more, at the end of the last interval.", float64(l.inFlight))
		gauge("backlog_messages", "Due but not sent at the end of the last interval.", float64(l.backlog))
	}
	for vital, v := range l.vitals {
		gauge("vital", "What the generator and its machine were like in the last interval, in the result file's units.", v, "vital", string(vital))
	}
	for _, name := range counterNames() {
		n, _ := l.counters.Named(name)
		if name == "corrupted" { // it falls when the whole message comes, which no counter may
			n = l.counters.Damaged()
		}
		to <- prometheus.MustNewConstMetricWithCreatedTimestamp(family(name+"_total", "The counter "+name+" of the measured window, see docs/reference.md."),
			prometheus.CounterValue, float64(n), h.Started, h.ID, h.Workload)
	}
	for _, m := range result.Metrics() {
		if x := l.metrics[m]; x != nil {
			to <- series{x, m, h}
			if l.phase == "" {
				gauge("unresolved_messages", "Messages without a value, in the highest bucket only: never resolved, or refused.", float64(x.beyond), "metric", string(m))
			}
		}
	}
	if s := l.summary; s != nil {
		gauge("verdict_info", "How far the figures of the run are to be believed.", 1, "verdict", s.Verdict.String(), "status", string(s.Verdict.Status))
		for _, o := range s.Objectives {
			met := 0.0
			if o.Outcome == "met" {
				met = 1
			}
			gauge("objective_met", "1 if the objective is shown to be met, else 0.", met, "objective", o.Text, "outcome", o.Outcome)
		}
		least, most := s.LostAcked()
		gauge("lost_acked_at_least", "Acknowledged messages that are known to be lost: not delivered, or gone from the broker when it was read back.", float64(least))
		if !l.cut {
			gauge("lost_acked_at_most", "The same, with those that may be lost.", float64(most))
		}
	}
}

// series is a histogram with both kinds of buckets.
type series struct {
	*histogram
	metric result.Metric
	header *result.Header
}

// Desc implements prometheus.Metric.
func (s series) Desc() *prometheus.Desc {
	return family(histogramName(s.metric), "The metric "+string(s.metric)+" of the measured window, see docs/reference.md. Unresolved and refused messages are in the highest bucket only.")
}

// Write implements prometheus.Metric.
func (s series) Write(to *dto.Metric) error {
	buckets := map[int]int64{}
	for i, n := range s.native {
		if n != 0 {
			buckets[lowestKey+i] = n
		}
	}
	if s.beyond > 0 {
		buckets[overflow] = s.beyond
	}
	total := uint64(s.count + s.beyond)
	native, err := prometheus.NewConstNativeHistogram(s.Desc(), total, seconds(s.sum), buckets, nil, uint64(s.zero), schema, zeroUpTo,
		s.header.Started, s.header.ID, s.header.Workload)
	if err != nil {
		return err
	}
	if err := native.Write(to); err != nil {
		return err
	}
	var before uint64
	for i, bound := range s.upTo {
		before += uint64(s.classic[i])
		upTo, n := seconds(float64(bound)), before
		to.Histogram.Bucket = append(to.Histogram.Bucket, &dto.Bucket{UpperBound: &upTo, CumulativeCount: &n})
	}
	return nil
}

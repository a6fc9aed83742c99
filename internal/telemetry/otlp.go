package telemetry

import (
	"time"

	dto "github.com/prometheus/client_model/go"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	metrics "go.opentelemetry.io/proto/otlp/metrics/v1"
	resource "go.opentelemetry.io/proto/otlp/resource/v1"
)

// metricsData is what families are in OpenTelemetry's protocol, under the same
// names: counters as cumulative sums, histograms as exponential ones. It is, byte for
// byte, also an export request, which has the same field.
func metricsData(families []*dto.MetricFamily, version string, now time.Time) *metrics.MetricsData {
	scope := &metrics.ScopeMetrics{Scope: &common.InstrumentationScope{Name: "sixnines", Version: version}}
	at := uint64(now.UnixNano())
	for _, f := range families {
		m := &metrics.Metric{Name: f.GetName(), Description: f.GetHelp()}
		switch f.GetType() {
		case dto.MetricType_COUNTER:
			m.Data = &metrics.Metric_Sum{Sum: &metrics.Sum{IsMonotonic: true, AggregationTemporality: cumulative, DataPoints: points(f, at)}}
		case dto.MetricType_HISTOGRAM:
			m.Unit = "s"
			h := &metrics.ExponentialHistogram{AggregationTemporality: cumulative}
			for _, x := range f.GetMetric() {
				h.DataPoints = append(h.DataPoints, exponential(x, at))
			}
			m.Data = &metrics.Metric_ExponentialHistogram{ExponentialHistogram: h}
		default:
			m.Data = &metrics.Metric_Gauge{Gauge: &metrics.Gauge{DataPoints: points(f, at)}}
		}
		scope.Metrics = append(scope.Metrics, m)
	}
	return &metrics.MetricsData{ResourceMetrics: []*metrics.ResourceMetrics{{
		Resource:     &resource.Resource{Attributes: []*common.KeyValue{text("service.name", "sixnines"), text("service.version", version)}},
		ScopeMetrics: []*metrics.ScopeMetrics{scope},
	}}}
}

const cumulative = metrics.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE

// text is an attribute.
func text(key, value string) *common.KeyValue {
	return &common.KeyValue{Key: key, Value: &common.AnyValue{Value: &common.AnyValue_StringValue{StringValue: value}}}
}

// attributes are a series' labels, without empty ones.
func attributes(m *dto.Metric) (all []*common.KeyValue) {
	for _, l := range m.GetLabel() {
		if l.GetValue() != "" {
			all = append(all, text(l.GetName(), l.GetValue()))
		}
	}
	return all
}

// points are the values of counters and gauges.
func points(f *dto.MetricFamily, at uint64) (all []*metrics.NumberDataPoint) {
	for _, m := range f.GetMetric() {
		p := &metrics.NumberDataPoint{Attributes: attributes(m), TimeUnixNano: at}
		if c := m.GetCounter(); c != nil {
			p.StartTimeUnixNano = uint64(c.GetCreatedTimestamp().AsTime().UnixNano())
			p.Value = &metrics.NumberDataPoint_AsInt{AsInt: int64(c.GetValue())}
		} else {
			p.Value = &metrics.NumberDataPoint_AsDouble{AsDouble: m.GetGauge().GetValue()}
		}
		all = append(all, p)
	}
	return all
}

// exponential is a native histogram. Bucket k there is bucket k−1 here, and what is
// beyond every number has no place: sixnines_unresolved_messages counts it.
func exponential(m *dto.Metric, at uint64) *metrics.ExponentialHistogramDataPoint {
	h := m.GetHistogram()
	sum := h.GetSampleSum()
	p := &metrics.ExponentialHistogramDataPoint{Attributes: attributes(m), TimeUnixNano: at,
		StartTimeUnixNano: uint64(h.GetCreatedTimestamp().AsTime().UnixNano()), Count: h.GetZeroCount(), Sum: &sum,
		Scale: h.GetSchema(), ZeroCount: h.GetZeroCount(), ZeroThreshold: h.GetZeroThreshold(),
		Positive: &metrics.ExponentialHistogramDataPoint_Buckets{}}
	key, next, n := 0, 0, int64(0)
	for _, span := range h.GetPositiveSpan() {
		key += int(span.GetOffset())
		for range span.GetLength() {
			n += h.GetPositiveDelta()[next]
			next++
			if b := p.Positive; key != overflow && n > 0 {
				if len(b.BucketCounts) == 0 {
					b.Offset = int32(key - 1)
				}
				for len(b.BucketCounts) <= key-1-int(b.Offset) {
					b.BucketCounts = append(b.BucketCounts, 0)
				}
				b.BucketCounts[key-1-int(b.Offset)] = uint64(n)
				p.Count += uint64(n)
			}
			key++
		}
	}
	return p
}

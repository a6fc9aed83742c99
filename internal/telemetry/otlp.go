package telemetry

import (
	"strings"
	"time"

	dto "github.com/prometheus/client_model/go"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	metrics "go.opentelemetry.io/proto/otlp/metrics/v1"
	resource "go.opentelemetry.io/proto/otlp/resource/v1"
)

// resourceMetrics converts families to OpenTelemetry's data model, under the same names:
// counters to cumulative sums, histograms to exponential histograms. instance tells this process
// from others of the service.
func resourceMetrics(families []*dto.MetricFamily, version, instance string, at time.Time) *metrics.ResourceMetrics {
	const cumulative = metrics.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE
	now := uint64(at.UnixNano())
	scope := &metrics.ScopeMetrics{Scope: &common.InstrumentationScope{Name: "sixnines", Version: version}}
	for _, f := range families {
		m := &metrics.Metric{Name: f.GetName(), Description: f.GetHelp(), Unit: unitOf(f.GetName())}
		switch f.GetType() {
		case dto.MetricType_COUNTER:
			sum := &metrics.Sum{IsMonotonic: true, AggregationTemporality: cumulative}
			for _, x := range f.GetMetric() {
				sum.DataPoints = append(sum.DataPoints, &metrics.NumberDataPoint{Attributes: attributes(x), TimeUnixNano: now,
					StartTimeUnixNano: uint64(x.GetCounter().GetCreatedTimestamp().AsTime().UnixNano()),
					Value:             &metrics.NumberDataPoint_AsInt{AsInt: int64(x.GetCounter().GetValue())}})
			}
			m.Data = &metrics.Metric_Sum{Sum: sum}
		case dto.MetricType_HISTOGRAM:
			h := &metrics.ExponentialHistogram{AggregationTemporality: cumulative}
			for _, x := range f.GetMetric() {
				h.DataPoints = append(h.DataPoints, exponential(x, now))
			}
			m.Data = &metrics.Metric_ExponentialHistogram{ExponentialHistogram: h}
		default:
			gauge := &metrics.Gauge{}
			for _, x := range f.GetMetric() {
				gauge.DataPoints = append(gauge.DataPoints, &metrics.NumberDataPoint{Attributes: attributes(x), TimeUnixNano: now,
					Value: &metrics.NumberDataPoint_AsDouble{AsDouble: x.GetGauge().GetValue()}})
			}
			m.Data = &metrics.Metric_Gauge{Gauge: gauge}
		}
		scope.Metrics = append(scope.Metrics, m)
	}
	return &metrics.ResourceMetrics{
		Resource: &resource.Resource{Attributes: []*common.KeyValue{
			attribute("service.instance.id", instance), attribute("service.name", "sixnines"), attribute("service.version", version)}},
		ScopeMetrics: []*metrics.ScopeMetrics{scope},
	}
}

// unitOf returns the unit of a family in UCUM, as OpenTelemetry has them; empty where each of
// its series has its own.
func unitOf(family string) string {
	switch name := strings.TrimSuffix(family, "_total"); {
	case strings.HasSuffix(name, "_seconds"):
		return "s"
	case strings.HasSuffix(name, "_bytes"), strings.HasPrefix(name, prefix+"bytes_"):
		return "By"
	case strings.HasSuffix(name, "_rate"):
		return "{message}/s"
	case name == prefix+"vital":
		return ""
	case name != family, strings.HasSuffix(name, "_messages"):
		return "{message}"
	}
	return "1"
}

// attribute is a pair of texts.
func attribute(key, value string) *common.KeyValue {
	return &common.KeyValue{Key: key, Value: &common.AnyValue{Value: &common.AnyValue_StringValue{StringValue: value}}}
}

// attributes returns a series' labels, without empty ones.
func attributes(m *dto.Metric) []*common.KeyValue {
	var all []*common.KeyValue
	for _, l := range m.GetLabel() {
		if l.GetValue() != "" {
			all = append(all, attribute(l.GetName(), l.GetValue()))
		}
	}
	return all
}

// exponential converts a native histogram. Its bucket k is bucket k−1 in OpenTelemetry. The
// overflow bucket is left out; sixnines_unresolved_messages counts it.
func exponential(m *dto.Metric, now uint64) *metrics.ExponentialHistogramDataPoint {
	h := m.GetHistogram()
	b := &metrics.ExponentialHistogramDataPoint_Buckets{}
	p := &metrics.ExponentialHistogramDataPoint{Attributes: attributes(m), TimeUnixNano: now,
		StartTimeUnixNano: uint64(h.GetCreatedTimestamp().AsTime().UnixNano()), Count: h.GetZeroCount(), Sum: new(h.GetSampleSum()),
		Scale: h.GetSchema(), ZeroCount: h.GetZeroCount(), ZeroThreshold: h.GetZeroThreshold(), Positive: b}
	key, next, n := 0, 0, int64(0)
	for _, span := range h.GetPositiveSpan() {
		key += int(span.GetOffset())
		for range span.GetLength() {
			n += h.GetPositiveDelta()[next]
			next++
			if key != overflow && n > 0 {
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

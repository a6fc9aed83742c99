package telemetry

import (
	"strings"
	"time"

	dto "github.com/prometheus/client_model/go"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/resource"
)

// resourceMetrics converts families to OpenTelemetry's data model, under the same names:
// counters to cumulative sums, histograms to exponential histograms. instance tells this process
// from others of the service.
func resourceMetrics(families []*dto.MetricFamily, version, instance string, now time.Time) *metricdata.ResourceMetrics {
	scope := metricdata.ScopeMetrics{Scope: instrumentation.Scope{Name: "sixnines", Version: version}}
	for _, f := range families {
		m := metricdata.Metrics{Name: f.GetName(), Description: f.GetHelp(), Unit: unitOf(f.GetName())}
		switch f.GetType() {
		case dto.MetricType_COUNTER:
			sum := metricdata.Sum[int64]{IsMonotonic: true, Temporality: metricdata.CumulativeTemporality}
			for _, x := range f.GetMetric() {
				sum.DataPoints = append(sum.DataPoints, metricdata.DataPoint[int64]{Attributes: attributes(x), Time: now,
					StartTime: x.GetCounter().GetCreatedTimestamp().AsTime(), Value: int64(x.GetCounter().GetValue())})
			}
			m.Data = sum
		case dto.MetricType_HISTOGRAM:
			h := metricdata.ExponentialHistogram[float64]{Temporality: metricdata.CumulativeTemporality}
			for _, x := range f.GetMetric() {
				h.DataPoints = append(h.DataPoints, exponential(x, now))
			}
			m.Data = h
		default:
			gauge := metricdata.Gauge[float64]{}
			for _, x := range f.GetMetric() {
				gauge.DataPoints = append(gauge.DataPoints, metricdata.DataPoint[float64]{Attributes: attributes(x), Time: now, Value: x.GetGauge().GetValue()})
			}
			m.Data = gauge
		}
		scope.Metrics = append(scope.Metrics, m)
	}
	return &metricdata.ResourceMetrics{
		Resource:     resource.NewSchemaless(attribute.String("service.name", "sixnines"), attribute.String("service.version", version), attribute.String("service.instance.id", instance)),
		ScopeMetrics: []metricdata.ScopeMetrics{scope},
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

// attributes returns a series' labels, without empty ones.
func attributes(m *dto.Metric) attribute.Set {
	var all []attribute.KeyValue
	for _, l := range m.GetLabel() {
		if l.GetValue() != "" {
			all = append(all, attribute.String(l.GetName(), l.GetValue()))
		}
	}
	return attribute.NewSet(all...)
}

// exponential converts a native histogram. Its bucket k is bucket k−1 in OpenTelemetry. The
// overflow bucket is left out; sixnines_unresolved_messages counts it.
func exponential(m *dto.Metric, now time.Time) metricdata.ExponentialHistogramDataPoint[float64] {
	h := m.GetHistogram()
	p := metricdata.ExponentialHistogramDataPoint[float64]{Attributes: attributes(m), Time: now,
		StartTime: h.GetCreatedTimestamp().AsTime(), Count: h.GetZeroCount(), Sum: h.GetSampleSum(),
		Scale: h.GetSchema(), ZeroCount: h.GetZeroCount(), ZeroThreshold: h.GetZeroThreshold()}
	key, next, n := 0, 0, int64(0)
	for _, span := range h.GetPositiveSpan() {
		key += int(span.GetOffset())
		for range span.GetLength() {
			n += h.GetPositiveDelta()[next]
			next++
			if b := &p.PositiveBucket; key != overflow && n > 0 {
				if len(b.Counts) == 0 {
					b.Offset = int32(key - 1)
				}
				for len(b.Counts) <= key-1-int(b.Offset) {
					b.Counts = append(b.Counts, 0)
				}
				b.Counts[key-1-int(b.Offset)] = uint64(n)
				p.Count += uint64(n)
			}
			key++
		}
	}
	return p
}

package resultfile

import (
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"sixnines/result"
)

// lines writes intervals exactly as encoding/json does, into a buffer that it reuses:
// json.Marshal allocates some 8 kB for each, and in the measured window the garbage
// collector is off.
type lines struct {
	buffer  []byte
	metrics []result.Metric
	vitals  []result.Vital
}

// interval returns v as JSON; the bytes are valid until the next call.
func (l *lines) interval(v *result.Interval) ([]byte, error) {
	b := l.buffer[:0]
	var err error
	b = append(b, `{"type":`...)
	b = appendText(b, v.Type)
	if v.Workload != "" {
		b = append(b, `,"workload":`...)
		b = appendText(b, v.Workload)
	}
	b = append(b, `,"phase":`...)
	b = appendText(b, v.Phase)
	b = appendNumber(b, `,"start":`, v.Start)
	b = appendNumber(b, `,"end":`, v.End)
	if len(v.Metrics) > 0 {
		l.metrics = l.metrics[:0]
		for m := range v.Metrics {
			l.metrics = append(l.metrics, m)
		}
		slices.Sort(l.metrics)
		b = append(b, `,"metrics":`...)
		for i, m := range l.metrics {
			b = append(b, opening(i))
			b = appendText(b, string(m))
			b = append(b, ':')
			b = appendMetric(b, v.Metrics[m])
		}
		b = append(b, '}')
	}
	b = append(b, `,"counters":`...)
	b = appendCounters(b, &v.Counters)
	b = appendNumber(b, `,"in_flight":`, v.InFlight)
	b = appendNumber(b, `,"backlog":`, v.Backlog)
	if len(v.Vitals) > 0 {
		l.vitals = l.vitals[:0]
		for name := range v.Vitals {
			l.vitals = append(l.vitals, name)
		}
		slices.Sort(l.vitals)
		b = append(b, `,"vitals":`...)
		for i, name := range l.vitals {
			b = append(b, opening(i))
			b = appendText(b, string(name))
			b = append(b, ':')
			b = appendFloat(b, v.Vitals[name])
		}
		b = append(b, '}')
	}
	// Members that only some intervals have.
	if len(v.Pauses) > 0 && err == nil {
		b, err = appendRare(b, `,"pauses":`, v.Pauses)
	}
	if len(v.Levels) > 0 && err == nil {
		b, err = appendRare(b, `,"levels":`, v.Levels)
	}
	if len(v.Tail) > 0 && err == nil {
		b, err = appendRare(b, `,"tail":`, v.Tail)
	}
	if len(v.Lost) > 0 && err == nil {
		b, err = appendRare(b, `,"lost":`, v.Lost)
	}
	if v.Depth != nil && err == nil {
		b, err = appendRare(b, `,"depth":`, v.Depth)
	}
	if len(v.Readings) > 0 && err == nil {
		b, err = appendRare(b, `,"kept":`, v.Readings)
	}
	if v.Closing != nil && err == nil {
		b, err = appendRare(b, `,"closing":`, v.Closing)
	}
	if v.Connections != nil && err == nil {
		b, err = appendRare(b, `,"connections":`, v.Connections)
	}
	if v.ReadBack != nil && err == nil {
		b, err = appendRare(b, `,"read_back":`, v.ReadBack)
	}
	if v.Ledger != nil && err == nil {
		b, err = appendRare(b, `,"ledger":`, v.Ledger)
	}
	b = append(b, '}')
	l.buffer = b
	return b, err
}

// opening returns the byte before member i of an object.
func opening(i int) byte {
	if i == 0 {
		return '{'
	}
	return ','
}

func appendMetric(b []byte, m *result.MetricInterval) []byte {
	if m == nil {
		return append(b, "null"...)
	}
	b = append(b, `{"hist":`...)
	b = appendText(b, m.Hist)
	b = appendNumber(b, `,"min":`, m.Min)
	b = appendNumber(b, `,"max":`, m.Max)
	b = appendPairs(b, `,"slots":[`, m.Slots)
	if len(m.Own) > 0 {
		b = append(b, `,"own":[`...)
		for i, o := range m.Own {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendNumber(b, `{"b":`, int64(o.Band))
			b = appendNumber(b, `,"n":`, o.Count)
			b = appendNumber(b, `,"own":`, o.Own)
			if o.Received != 0 {
				b = appendNumber(b, `,"recv":`, o.Received)
			}
			b = appendNumber(b, `,"total":`, o.Total)
			b = appendNumber(b, `,"majority":`, o.Majority)
			if o.Unknown != 0 {
				b = appendNumber(b, `,"unknown":`, o.Unknown)
			}
			b = append(b, '}')
		}
		b = append(b, ']')
	}
	if m.Censored != "" {
		b = append(b, `,"censored":`...)
		b = appendText(b, m.Censored)
	}
	b = appendPairs(b, `,"unanswered":[`, m.Unanswered)
	return append(appendPairs(b, `,"refused":[`, m.Refused), '}')
}

// appendPairs appends before and a list of pairs; nothing if the list is empty.
func appendPairs(b []byte, before string, pairs [][2]int64) []byte {
	if len(pairs) == 0 {
		return b
	}
	b = append(b, before...)
	for i, p := range pairs {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendNumber(b, `[`, p[0])
		b = appendNumber(b, `,`, p[1])
		b = append(b, ']')
	}
	return append(b, ']')
}

// appendCounters appends the counters, in the order of their declaration.
func appendCounters(b []byte, c *result.Counters) []byte {
	v := reflect.ValueOf(c).Elem()
	first := len(b)
	b = append(b, '{')
	for i, name := range counterNames() {
		n := v.Field(i).Int()
		if n == 0 && name.omitted {
			continue
		}
		if len(b) > first+1 {
			b = append(b, ',')
		}
		b = append(b, name.quoted...)
		b = strconv.AppendInt(b, n, 10)
	}
	return append(b, '}')
}

type counterName struct {
	quoted  string // in quotes, with the colon
	omitted bool   // left out when 0
}

// counterNames returns the JSON names of the fields of result.Counters, in order.
var counterNames = sync.OnceValue(func() (names []counterName) {
	t := reflect.TypeFor[result.Counters]()
	for i := range t.NumField() {
		name, options, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		names = append(names, counterName{strconv.Quote(name) + ":", options == "omitempty"})
	}
	return names
})

func appendNumber(b []byte, before string, n int64) []byte {
	return strconv.AppendInt(append(b, before...), n, 10)
}

// appendFloat writes a finite number as encoding/json does (ES6).
func appendFloat(b []byte, f float64) []byte {
	abs := math.Abs(f)
	format := byte('f')
	if abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		format = 'e'
	}
	b = strconv.AppendFloat(b, f, format, -1, 64)
	if n := len(b); format == 'e' && n >= 4 && b[n-4] == 'e' && (b[n-3] == '-' || b[n-3] == '+') && b[n-2] == '0' {
		b[n-2] = b[n-1] // e-09 to e-9
		b = b[:n-1]
	}
	return b
}

// appendText appends s as a JSON string. Most strings need no escapes, so that is the fast path.
func appendText(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			text, err := json.Marshal(s)
			if err != nil {
				return b // cannot happen: every string can be marshalled
			}
			return append(b, text...)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}

func appendRare(b []byte, before string, v any) ([]byte, error) {
	text, err := json.Marshal(v)
	return append(append(b, before...), text...), err
}

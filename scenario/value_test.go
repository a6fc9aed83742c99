package scenario

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"
)

func TestParseRate(t *testing.T) {
	for text, want := range map[string]Rate{
		"3000/s":     {3000, time.Second},
		"0.5/s":      {1, 2 * time.Second},
		"100/3s":     {100, 3 * time.Second},
		"10/min":     {10, time.Minute},
		"10/m":       {10, time.Minute},
		"10/5min":    {10, 5 * time.Minute},
		"20k/s":      {20000, time.Second},
		"01000/s":    {1000, time.Second},
		"1M/s":       {1000000, time.Second},
		"1.5M/s":     {1500000, time.Second},
		"0.0015k/s":  {3, 2 * time.Second},
		"2.50/s":     {5, 2 * time.Second},
		"1/250ms":    {1, 250 * time.Millisecond},
		"1/1m30s":    {1, 90 * time.Second},
		"7/us":       {7, time.Microsecond},
		"7/µs":       {7, time.Microsecond},
		"1/24h":      {1, 24 * time.Hour},
		"1/0.5s":     {1, 500 * time.Millisecond},
		"max":        MaxRate(),
		"0.333/s":    {333, 1000 * time.Second},
		"1G/h":       {1e9, time.Hour},
		"1000.000/s": {1000, time.Second},
		"1000":       {1000, time.Second},
		"1k":         {1000, time.Second},
		"1K":         {1000, time.Second},
		"20K/s":      {20000, time.Second},
		"1.5M":       {1500000, time.Second},
		"0.5":        {1, 2 * time.Second},
		"1e3/s":      {1000, time.Second},
		" 1 / s ":    {1, time.Second},
		"1k msgs/s":  {1000, time.Second},
		"1msg/sec":   {1, time.Second},
		"1000/1s":    {1000, time.Second},
		"6/ 1 min":   {6, time.Minute},
		"7/minute":   {7, time.Minute},
		"7/hour":     {7, time.Hour},
		"7/day":      {7, 24 * time.Hour},
		"MAX":        MaxRate(),
	} {
		got, err := ParseRate(text)
		if err != nil || got != want {
			t.Errorf("%s: got %+v, %v; want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "/", "1/", "/s", "1m", "1 msg", "1,000/s", "01000", "-1", "0", "1/2d", "1M/S", "x/s", "1/x", "-1/s", "0/s", "0.0/s", "1/0s", "1/-1s", "1./s", ".5/s", "1kk/s",
		"max/s", "1/25h", "0.00001/h", "18446744073709551615/s", "18446744073709551616/s", "9223372036854775807/s", "10000000000G/s", "0.1234567890123456789/s", "+1/s", "k/s"} {
		if got, err := ParseRate(text); err == nil {
			t.Errorf("%q is taken for %+v", text, got)
		} else if e := new(Error); !errors.As(err, &e) || e.Hint == "" {
			t.Errorf("%q: no hint in %v", text, err)
		}
	}
}

func TestParseSize(t *testing.T) {
	for text, want := range map[string]Size{
		"256": 256, "1K": 1024, "1kb": 1000, "1 B": 1, "1e3B": 1000, "256B": 256, "1KiB": 1024, "1MB": 1e6, "1.5KiB": 1536, "0B": 0, "64kB": 64000, "0.5MiB": 512 * KiB, "1.0B": 1,
		"9223372036854775807B": math.MaxInt64, "8589934591GiB": 8589934591 * GiB, "0.001kB": 1,
	} {
		got, err := ParseSize(text)
		if err != nil || got != want {
			t.Errorf("%s: got %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "B", "1,5KiB", "1.5B", "-1B", "1TB", "8589934592GiB", "9223372036854775808B", "0.0001kB", "1..5KiB", "0x10B"} {
		if got, err := ParseSize(text); err == nil {
			t.Errorf("%q is taken for %d", text, got)
		}
	}
}

// roundTrip checks that a value survives its own text, YAML and JSON.
func roundTrip[T any](t *testing.T, v T, text string, set func(*T, []byte) error) {
	t.Helper()
	var back T
	if err := set(&back, []byte(text)); err != nil || !reflect.DeepEqual(back, v) {
		t.Fatalf("%+v is written %s, which is read as %+v, %v", v, text, back, err)
	}
	type box struct{ V T }
	for name, codec := range map[string]struct {
		write func(any) ([]byte, error)
		read  func([]byte, any) error
	}{
		"JSON": {json.Marshal, json.Unmarshal},
		"YAML": {yaml.Marshal, yaml.Unmarshal},
	} {
		out, err := codec.write(box{v})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !strings.Contains(string(out), text) {
			t.Fatalf("%s of %s is %s", name, text, out)
		}
		var in box
		if err := codec.read(out, &in); err != nil || !reflect.DeepEqual(in.V, v) {
			t.Fatalf("%s %s is read as %+v, %v", name, out, in.V, err)
		}
	}
}

func randomRate(r *rand.Rand) Rate {
	per := time.Duration(1 + r.Int64N(int64(MaxPer))>>r.IntN(46))
	if r.IntN(2) == 0 {
		per = denominators[r.IntN(len(denominators))].per
	}
	return Rate{1 + r.Uint64N(math.MaxInt64)>>r.IntN(62), per}
}

func randomArrivals(r *rand.Rand) Arrivals {
	duration := func() time.Duration {
		return time.Duration(int64(time.Millisecond) + r.Int64N(int64(MaxPer))>>r.IntN(37))
	}
	switch r.IntN(7) {
	case 0:
		return Arrivals{Kind: Constant}
	case 1:
		return Arrivals{Kind: Poisson}
	case 2:
		a := Arrivals{Kind: Step, Random: r.IntN(2) == 0}
		for range 1 + r.IntN(4) {
			a.Steps = append(a.Steps, RateStep{randomRate(r), duration()})
		}
		return a
	case 3:
		return Arrivals{Kind: Ramp, From: randomRate(r), To: randomRate(r), Random: r.IntN(2) == 0}
	case 4:
		return Arrivals{Kind: Sine, Amplitude: 1 - r.Float64()*math.Pow(10, -float64(r.IntN(20))), Period: duration(), Random: r.IntN(2) == 0}
	case 5:
		return Arrivals{Kind: Burst, Count: 1 + r.Uint64N(1e9), Period: duration()}
	}
	return Arrivals{Kind: Trace, File: []string{"a", "a b", "/x/y,random", "µ@1"}[r.IntN(4)]}
}

func TestValuesRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	roundTrip(t, MaxRate(), "max", (*Rate).UnmarshalText)
	for range 3000 {
		v := randomRate(r)
		roundTrip(t, v, v.String(), (*Rate).UnmarshalText)
		units := []Size{Byte, KB, MB, GB, KiB, MiB, GiB}
		s := Size(r.Int64()>>r.IntN(62)) / units[r.IntN(len(units))] * units[r.IntN(len(units))]
		if s >= 0 {
			roundTrip(t, s, s.String(), (*Size).UnmarshalText)
		}
		a := randomArrivals(r)
		roundTrip(t, a, a.String(), (*Arrivals).UnmarshalText)
		d := time.Duration(r.Int64() >> r.IntN(62))
		if back, err := parseDuration(formatDuration(d)); err != nil || back != d {
			t.Fatalf("%d is written %s, which is read as %d, %v", d, formatDuration(d), back, err)
		}
	}
	for d, want := range map[time.Duration]string{0: "0s", time.Hour: "1h", 90 * time.Second: "1m30s", time.Minute: "1m", 10 * time.Second: "10s", time.Hour + 10*time.Second: "1h0m10s", 30 * time.Minute: "30m", 10 * time.Minute: "10m"} {
		if got := formatDuration(d); got != want {
			t.Errorf("%d is written %s, want %s", d, got, want)
		}
	}
}

func FuzzParseRate(f *testing.F) {
	for _, s := range []string{"3000/s", "0.5/s", "100/3s", "max", "1M/1m30s", "0.333k/min", "1/24h"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r, err := ParseRate(s)
		if err != nil {
			return
		}
		if r.IsZero() || r.Per <= 0 || r.Per > MaxPer {
			t.Fatalf("%q is %+v", s, r)
		}
		if back, err := ParseRate(r.String()); err != nil || back != r {
			t.Fatalf("%q is %+v, written %s, read back as %+v, %v", s, r, r, back, err)
		}
	})
}

func FuzzParseArrivals(f *testing.F) {
	for _, form := range arrivalsForms {
		f.Add(form.form)
	}
	f.Fuzz(func(t *testing.T, s string) {
		a, err := ParseArrivals(s)
		if err != nil {
			return
		}
		if back, err := ParseArrivals(a.String()); err != nil || !reflect.DeepEqual(back, a) {
			t.Fatalf("%q is %+v, written %s, read back as %+v, %v", s, a, a, back, err)
		}
	})
}

package scenario

import (
	"math"
	"testing"
)

func TestSizes(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"workload: {size: 1KiB}", "1KiB"},
		{"workload: {size: {256B: 90%, 64KiB: 10%}}", "256B:90%,64KiB:10%"},
		{"workload: {size: '256B: 90%, 64KiB: 10%'}", "256B:90%,64KiB:10%"},
		{"workload: {size: {1024B: 33.3%, 32B: 66.7%}}", "1KiB:33.3%,32B:66.7%"},
		{"workload: {size: {1KiB: '${SHARE:-100%}'}}", "1KiB:100%"},
		{"workload:\n  size: lognormal:median=1KiB,sigma=1.50,max=64KiB\n", "lognormal:median=1KiB,sigma=1.5,max=64KiB"},
	} {
		s := mustParse(t, tt.text)
		if got := s.Workload.Size.String(); got != tt.want {
			t.Errorf("%s is %s, want %s", tt.text, got, tt.want)
		}
		survives(t, s)
	}
	for _, tt := range []struct{ text, want string }{
		{"workload:\n  size: {256B: 90%}\n", `x.yaml:2:9: the shares of the sizes "256B:90%" add up to 90% (they are 100% together)`},
		{"workload: {size: {256B: 50%, 0.25KiB: 50%}}", "hold 256B twice"},
		{"workload: {size: {16B: 100%}}", "the size 16B is out of range (a payload has 32B to 1GiB)"},
		{"workload: {size: {2GiB: 100%}}", "the size 2GiB is out of range"},
		{"workload: {size: {256x: 100%}}", `the size "256x" has an unknown unit "x"`},
		{"workload: {size: {256B: 0.9, 1KiB: 10%}}", `"0.9" is not a percentage`},
		{"workload: {size: {256B: 99.999%, 1KiB: 0.001%}}", "a share of 0.001% is too small"},
		{"workload: {size: {256B: [1]}}", "workload.size.256B is a list, not a word"},
		{"workload: {size: {}}", "is not a size"},
		{"workload:\n  size: lognormal:median=1KiB,max=64KiB\n", "lack median, sigma or max"},
		{"workload:\n  size: lognormal:median=1KiB,sigma=5,max=64KiB\n", `sigma is "5" (sigma is a number above 0 and at most 4`},
		{"workload:\n  size: lognormal:median=1KiB,sigma=1,max=512B\n", "max is below the median"},
		{"workload:\n  size: lognormal:median=1KiB,sigma=1,most=1MiB\n", `"most=1MiB" is not understood`},
		{"workload:\n  size: lognormal:median=1B,sigma=1,max=1KiB\n", "the size 1B is out of range"},
		{"workload: {size: 5B}", "5B is too small for size (32B to 1GiB)"},
	} {
		_, err := Parse("x.yaml", []byte(tt.text))
		wantError(t, err, tt.want)
	}
	s := mustParse(t, "workload: {size: {256B: 90%, 1MiB: 10%}, in_flight: {bytes: 64KiB}}")
	wantError(t, s.Validate(), "a message of 1MiB does not fit into 64KiB in flight")
}

func TestSizeQuantiles(t *testing.T) {
	list := Sizes{}
	if err := list.UnmarshalText([]byte("256B:90%,64KiB:10%")); err != nil {
		t.Fatal(err)
	}
	for p, want := range map[float64]Size{0.1: 256, 0.899: 256, 0.901: 64 * KiB, 0.999999: 64 * KiB} {
		if got := list.law().quantile(p); got != want {
			t.Errorf("quantile %v of %v is %v, want %v", p, list, got, want)
		}
	}
	law := Sizes{}
	if err := law.UnmarshalText([]byte("lognormal:median=1KiB,sigma=1,max=64KiB")); err != nil {
		t.Fatal(err)
	}
	// One standard deviation is a factor of e.
	for p, want := range map[float64]float64{0.5: 1024, 0.8413447460685429: 1024 * math.E, 0.15865525393145707: 1024 / math.E, 1e-9: 32, 1 - 1e-9: 64 << 10} {
		if got := float64(law.law().quantile(p)); math.Abs(got-want) > 1 {
			t.Errorf("quantile %v of %v is %v, want %v", p, law, got, want)
		}
	}
	if got := law.Largest(); got != 64*KiB {
		t.Errorf("the largest of %v is %v", law, got)
	}
}

func TestPayload(t *testing.T) {
	for _, tt := range []struct {
		text string
		want Payload
	}{
		{"workload: {payload: random}", Payload{}},
		{"workload: {payload: zeros}", Payload{Kind: ZeroPayload}},
		{"workload: {payload: {compress: 50%}}", Payload{Kind: CompressPayload, Share: 0.5}},
		{"workload: {payload: 'compress:12.5%'}", Payload{Kind: CompressPayload, Share: 0.125}},
		{"workload: {payload: {file: a b.json}}", Payload{Kind: FilePayload, Path: "a b.json"}},
		{"workload: {payload: {corpus: /var/corpus}}", Payload{Kind: CorpusPayload, Path: "/var/corpus"}},
	} {
		s := mustParse(t, tt.text)
		if s.Workload.Payload != tt.want {
			t.Errorf("%s is %+v, want %+v", tt.text, s.Workload.Payload, tt.want)
		}
		survives(t, s)
	}
	for _, tt := range []struct{ text, want string }{
		{"workload:\n  payload: zero\n", `x.yaml:2:12: no payload is called "zero" (write random, zeros, compress:50%, file:PATH or corpus:DIR; did you mean zeros?)`},
		{"workload: {payload: {zeros: 1}}", "takes no parameters"},
		{"workload: {payload: {compress: 0%}}", "does not say how much a compressor leaves"},
		{"workload: {payload: compress}", "does not say how much a compressor leaves"},
		{"workload: {payload: {compress: 101%}}", "does not say how much a compressor leaves"},
		{"workload: {payload: file}", "lacks its path"},
	} {
		_, err := Parse("x.yaml", []byte(tt.text))
		wantError(t, err, tt.want)
	}
}

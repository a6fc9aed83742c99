package scenario

import (
	"slices"
	"strings"
	"testing"
)

func TestKeys(t *testing.T) {
	for _, tt := range []struct {
		text string
		want Keys
		size Size
	}{
		{"workload: {keys: none}", Keys{}, 0},
		{"workload: {keys: fixed}", Keys{Kind: FixedKeys}, 16},
		{"workload: {keys: unique, key_size: 12B}", Keys{Kind: UniqueKeys}, 12},
		{"workload:\n  keys: zipf:1.1@10000\n", Keys{Kind: ZipfKeys, Skew: 1.1, Space: 10000}, 16},
		{"workload: {keys: {zipf: 1.01@2}, key_size: 8B}", Keys{Kind: ZipfKeys, Skew: 1.01, Space: 2}, 8},
	} {
		s := mustParse(t, tt.text)
		s.Normalise()
		if s.Workload.Keys != tt.want || s.Workload.KeySize != tt.size {
			t.Errorf("%s is %+v of %v, want %+v of %v", tt.text, s.Workload.Keys, s.Workload.KeySize, tt.want, tt.size)
		}
		if err := s.Validate(); err != nil {
			t.Error(err)
		}
		survives(t, s)
	}
	for _, tt := range []struct{ text, want string }{
		{"workload:\n  keys: uniqe\n", `x.yaml:2:9: no keys are called "uniqe" (write none, fixed, unique or zipf:1.1@10000; did you mean unique?)`},
		{"workload: {keys: {fixed: 1}}", "take no parameters"},
		{"workload: {keys: zipf}", "lack their exponent or how many there are (write such as zipf:1.1@10000)"},
		{"workload: {keys: 'zipf:1.1'}", "do not say how many there are"},
		{"workload: {keys: 'zipf:1.1@1'}", "do not say how many there are"},
		{"workload: {keys: 'zipf:0.99@100'}", "the exponent is 0.99 (zipf's exponent is above 1"},
		{"workload: {keys: 'zipf:NaN@100'}", "the exponent is NaN"},
		{"workload: {keys: fixed, key_size: 4B}", "4B is too small for key_size (8B to 64KiB)"},
	} {
		_, err := Parse("x.yaml", []byte(tt.text))
		wantError(t, err, tt.want)
	}
	wantError(t, mustParse(t, "workload: {key_size: 16B}").Validate(), "key_size is set, but there are no keys (give workload.keys")
	wantError(t, mustParse(t, "workload: {keys: unique, key_size: 8B}").Validate(), "unique keys of 8B (keys that are all different need at least 12B)")
}

func TestHeaders(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"workload: {headers: none}", "none"},
		{"workload: {headers: 2x32B}", "2x32B"},
		{"workload: {headers: 2x1KiB}", "2x1KiB"},
		{"workload: {headers: {tenant: blue, trace-id: '00-4b:f9'}}", "tenant:blue,trace-id:00-4b:f9"},
		{"workload: {headers: 'a: b, c: d e'}", "a:b,c:d e"},
		{"workload: {headers: {a: '${NO_SUCH_THING:-x}'}}", "a:x"},
	} {
		s := mustParse(t, tt.text)
		if got := s.Workload.Headers.String(); got != tt.want {
			t.Errorf("%s is %s, want %s", tt.text, got, tt.want)
		}
		survives(t, s)
	}
	h := Headers{}
	if err := h.UnmarshalText([]byte("3x20B")); err != nil {
		t.Fatal(err)
	}
	var names, values []string
	for _, x := range h.List() {
		names, values = append(names, x.Name), append(values, x.Value)
		if len(x.Value) != 20 {
			t.Errorf("%s is %q", x.Name, x.Value)
		}
	}
	if !slices.Equal(names, []string{"h0", "h1", "h2"}) || values[0] == values[1] || !slices.Equal(h.List(), h.List()) {
		t.Errorf("%v: %v", names, values)
	}
	if err := h.UnmarshalText([]byte("a:b,c:d:e")); err != nil || !slices.Equal(h.List(), []Header{{"a", "b"}, {"c", "d:e"}}) {
		t.Errorf("%v, %v", h.List(), err)
	}
	for _, tt := range []struct{ text, want string }{
		{"workload:\n  headers: tenant\n", `x.yaml:2:12: the headers "tenant": "tenant" has no name and value (write such as 4x32B`},
		{"workload: {headers: 65x1B}", "do not say how many there are (write such as 4x32B, with 1 to 64 headers)"},
		{"workload: {headers: 0x1B}", "do not say how many there are"},
		{"workload: {headers: 4x32x}", "has an unknown unit"},
		{"workload: {headers: 4x0B}", "values of 0B (a value has 1B to 32KiB)"},
		{"workload: {headers: 2x20KiB}", "are too many or too large (at most 64, and 32KiB together)"},
		{"workload: {headers: 'a b:c'}", `"a b" is no name`},
		{"workload: {headers: 'a:'}", "the value of a is empty or has control characters"},
		{"workload: {headers: 'a:b,a:c'}", `hold "a" twice`},
		{"workload: {headers: {a: 'b,c:d'}}", "workload.headers.a has a comma (values have none)"},
		{"workload: {headers: {}}", "headers"},
	} {
		_, err := Parse("x.yaml", []byte(tt.text))
		wantError(t, err, tt.want)
	}
	if err := h.UnmarshalText([]byte(strings.Repeat("n", 256) + ":x")); err == nil || !strings.Contains(err.Error(), "is no name") {
		t.Error(err)
	}
}

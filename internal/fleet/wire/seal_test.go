package wire

import (
	"bytes"
	"errors"
	"maps"
	"strings"
	"testing"
)

func TestOnlyTheAgentOpensWhatIsSealedForIt(t *testing.T) {
	coordinator, sender, err := NewCurve()
	if err != nil {
		t.Fatal(err)
	}
	agent, recipient, err := NewCurve()
	if err != nil {
		t.Fatal(err)
	}
	other, _, err := NewCurve()
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]string{"PASSWORD": "hunter2 hunter2", "EMPTY": ""}
	sealed, err := Seal(coordinator, recipient, values)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(sealed, []byte("hunter2")) || bytes.Contains(sealed, []byte("PASSWORD")) {
		t.Error("it can be read without being opened")
	}
	if got, err := Open(agent, sender, sealed); err != nil || !maps.Equal(got, values) {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := Open(other, sender, sealed); !errors.Is(err, ErrMalformed) || got != nil {
		t.Errorf("another agent: %v, %v", got, err)
	}
	damaged := bytes.Clone(sealed)
	damaged[len(damaged)-1] ^= 1
	if _, err := Open(agent, sender, damaged); !errors.Is(err, ErrMalformed) {
		t.Errorf("damaged: %v", err)
	}
	wrong, err := coordinator.Seal([]byte(`{"PASSWORD":["hunter2"]}`), recipient)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(agent, sender, wrong); !errors.Is(err, ErrMalformed) || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("not values: %v", err)
	}
	if _, err := Seal(coordinator, recipient, map[string]string{"A=B": ""}); err == nil {
		t.Error("a name that is none is sealed")
	}
	if _, err := Seal(coordinator, recipient, map[string]string{"A": strings.Repeat("x", MaxSealed)}); err == nil {
		t.Error("more than a plan may hold is sealed")
	}
}

func TestAKeyThatIsNoneIsRefused(t *testing.T) {
	pair, public, err := NewCurve()
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := Seal(pair, public, map[string]string{"A": "b"})
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"", "X", public[:55], public + "AAAAAAA", public + "\n", strings.Repeat("A", 63), strings.Repeat("A", 1<<16)} {
		if _, err := Open(pair, key, sealed); !errors.Is(err, ErrMalformed) {
			t.Errorf("opened with %.70q: %v", key, err)
		}
		if _, err := Seal(pair, key, nil); !errors.Is(err, ErrMalformed) {
			t.Errorf("sealed with %.70q: %v", key, err)
		}
	}
}

func FuzzOpen(f *testing.F) {
	coordinator, sender, err := NewCurve()
	if err != nil {
		f.Fatal(err)
	}
	agent, recipient, err := NewCurve()
	if err != nil {
		f.Fatal(err)
	}
	sealed, err := Seal(coordinator, recipient, map[string]string{"A": "b"})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(sender, sealed)
	f.Add(sender+"AAAAAAA", sealed)
	f.Fuzz(func(t *testing.T, sender string, sealed []byte) {
		if _, err := Open(agent, sender, sealed); err != nil && !errors.Is(err, ErrMalformed) {
			t.Error(err)
		}
	})
}

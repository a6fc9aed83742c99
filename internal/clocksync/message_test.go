package clocksync

import (
	"errors"
	"testing"
)

func TestExchangeByMessages(t *testing.T) {
	at := int64(1000)
	there := func() int64 { at += 10; return at }
	answer, err := Answer(Ask(7, 50), there(), Reading{Ahead: -5, Width: 3}, there)
	if err != nil {
		t.Fatal(err)
	}
	if x, raw, err := Take(answer, 7, 50, 90); err != nil || x != (Exchange{50, 1010, 1020, 90}) || raw != (Reading{1020, -5, 3}) {
		t.Errorf("%+v, %+v, %v", x, raw, err)
	}
	wide, err := Answer(Ask(7, 50), there(), Reading{Width: -1}, there)
	if err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{
		"another number": third(Take(answer, 8, 50, 90)), "another instant": third(Take(answer, 7, 51, 90)), "a question": third(Take(Ask(7, 50), 7, 50, 90)),
		"nothing": third(Take(nil, 7, 50, 90)), "too long": third(Take(append(answer, 0), 7, 50, 90)), "without a reading": third(Take(answer[:frameSize], 7, 50, 90)), "an impossible reading": third(Take(wide, 7, 50, 90)),
	} {
		if !errors.Is(err, ErrAnswer) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Answer(answer, 1, Reading{}, there); err == nil {
		t.Error("an answer is answered")
	}
}

func third(_ Exchange, _ Reading, err error) error { return err }

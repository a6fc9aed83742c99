package clocksync

import (
	"errors"
	"testing"
)

func TestExchangeByMessages(t *testing.T) {
	at := int64(1000)
	there := func() int64 { at += 10; return at }
	answer, err := Answer(Ask(7, 50), there(), there)
	if err != nil {
		t.Fatal(err)
	}
	if x, err := Take(answer, 7, 50, 90); err != nil || x != (Exchange{50, 1010, 1020, 90}) {
		t.Errorf("%+v, %v", x, err)
	}
	for name, err := range map[string]error{
		"another number": third(Take(answer, 8, 50, 90)), "another instant": third(Take(answer, 7, 51, 90)), "a question": third(Take(Ask(7, 50), 7, 50, 90)),
		"nothing": third(Take(nil, 7, 50, 90)), "too long": third(Take(append(answer, 0), 7, 50, 90)),
	} {
		if !errors.Is(err, ErrAnswer) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Answer(answer, 1, there); err == nil {
		t.Error("an answer is answered")
	}
}

func third(_ Exchange, err error) error { return err }

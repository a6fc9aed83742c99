package agent

import (
	"testing"

	"sixnines/internal/fleet/wire"
)

// slow is a runner that looks at a plan until it is told to go on.
type slow struct {
	Runner
	looks, goOn chan struct{}
}

func (s slow) Load(*Plan) (Load, error) {
	close(s.looks)
	<-s.goOn
	return Load{Rate: 1, Size: 1}, nil
}

// While an agent looks at a plan it answers everything else, and what it is told then it keeps to.
func TestAPlanHoldsUpNothing(t *testing.T) {
	for name, c := range map[string]struct {
		meanwhile func(a *agent) any
		refused   wire.Refusal
	}{
		"stopped": {func(a *agent) any { return a.takeStop(encoded(t, &wire.Stop{Run: "r"})) }, wire.RefusedFailed},
		"ended":   {func(a *agent) any { a.leave(); return &wire.Answer{} }, wire.RefusedBusy},
	} {
		t.Run(name, func(t *testing.T) {
			a, s := newAgent(t, Allow{}), slow{looks: make(chan struct{}), goOn: make(chan struct{})}
			a.Version, a.Runner, a.Dir = "1.2.3", s, t.TempDir()
			p := ask("target: {driver: d, url: 'd://h1:1'}")
			p.Shared = true
			answer := make(chan any)
			go func() { answer <- a.takePlan(t.Context(), encoded(t, p)) }()
			<-s.looks
			if status, ok := a.takeAsk(encoded(t, &wire.Ask{})).(*wire.Status); !ok || status.State != wire.Idle {
				t.Errorf("the status is %+v", status)
			}
			if got, ok := a.takeGo(encoded(t, &wire.Go{Run: "r", Point: wire.Connected})).(*wire.Answer); !ok || got.Refused != wire.RefusedUnknown {
				t.Errorf("it may go on before the plan is taken: %+v", got)
			}
			if got, ok := c.meanwhile(a).(*wire.Answer); !ok || got.Refused != "" {
				t.Errorf("refused: %+v", got)
			}
			close(s.goOn)
			if got, ok := (<-answer).(*wire.Answer); !ok || got.Refused != c.refused || a.job != nil {
				t.Errorf("the plan is answered by %+v, want %q", got, c.refused)
			}
		})
	}
}

func encoded(t *testing.T, m wire.Message) []byte {
	t.Helper()
	text, err := wire.Encode("1.2.3", m)
	if err != nil {
		t.Error(err)
	}
	return text
}

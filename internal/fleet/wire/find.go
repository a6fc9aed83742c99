package wire

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"
)

// Found is an agent that has answered.
type Found struct {
	Hello Hello
	// Skew, if not nil, says that the agent has another version. Hello is then empty but for the ID.
	Skew *Skew
}

// Search says when a search is over.
type Search struct {
	// Want ends it when so many agents have answered; 0: when nobody has answered for Quiet.
	Want int
	// Quiet is how long to wait after the last answer; 300 ms by default. Within is how long to wait altogether; 3 s by
	// default.
	Quiet, Within time.Duration
}

// maxInfo is the longest answer to a search: a hello, and what package micro has beside it.
const maxInfo = 256 << 10

// Find asks who is there, and returns those who answered, in order of their names. version is this program's. Answers that are
// none are ignored. The error is that of ctx or of the connection.
func Find(ctx context.Context, nc *nats.Conn, version string, s Search) ([]Found, error) {
	subject, err := micro.ControlSubject(micro.InfoVerb, Service, "")
	if err != nil {
		return nil, err
	}
	inbox := nc.NewInbox()
	answers, err := nc.SubscribeSync(inbox)
	if err != nil {
		return nil, fmt.Errorf("ask for agents: %w", err)
	}
	defer answers.Unsubscribe()
	if err := nc.PublishRequest(subject, inbox, nil); err != nil {
		return nil, fmt.Errorf("ask for agents: %w", err)
	}
	quiet := cmp.Or(s.Quiet, 300*time.Millisecond)
	within, cancel := context.WithTimeout(ctx, cmp.Or(s.Within, 3*time.Second))
	defer cancel()
	var found []Found
	for len(found) < MaxAgents && (s.Want == 0 || len(found) < s.Want) {
		wait, stop := within, context.CancelFunc(func() {})
		if s.Want == 0 {
			wait, stop = context.WithTimeout(within, quiet)
		}
		m, err := answers.NextMsgWithContext(wait)
		over := wait.Err() != nil
		stop()
		if errors.Is(err, nats.ErrNoResponders) || err != nil && over && ctx.Err() == nil {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("ask for agents: %w", err)
		}
		if f, ok := foundIn(version, m.Data); ok && !slices.ContainsFunc(found, func(x Found) bool { return x.Hello.ID == f.Hello.ID }) {
			found = append(found, f)
		}
	}
	slices.SortFunc(found, func(x, y Found) int {
		return cmp.Or(cmp.Compare(x.Hello.Name, y.Hello.Name), cmp.Compare(x.Hello.ID, y.Hello.ID))
	})
	return found, nil
}

// foundIn reads an answer of package micro.
func foundIn(version string, text []byte) (f Found, ok bool) {
	var info struct {
		ID       string            `json:"id"`
		Metadata map[string]string `json:"metadata"`
	}
	if len(text) > maxInfo || json.Unmarshal(text, &info) != nil {
		return f, false
	}
	switch err := Decode(version, []byte(info.Metadata[HelloKey]), &f.Hello); {
	case err == nil:
		return f, true
	case errors.As(err, &f.Skew):
		f.Hello = Hello{ID: Line(info.ID)}
		return f, true
	}
	return f, false
}

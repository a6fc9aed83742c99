package pulsar

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/apache/pulsar-client-go/pulsar/auth"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// The client repeats a login that is refused for as long as it lives: after five it gets
// nothing more to log in with, once says so, and what is sent is refused in the broker's
// words.
func TestRefusedLoginsAreGivenUp(t *testing.T) {
	t.Parallel()
	var told []driver.Event
	o := DefaultOptions()
	o.Token, o.HTTPURL = "old", "http://127.0.0.1:1"
	s, err := newSession(driver.Target{Run: "test", URL: "pulsar://127.0.0.1:1", Notify: func(e driver.Event) { told = append(told, e) }}, o)
	if err != nil {
		t.Fatal(err)
	}
	l, err := s.connect(t.Context(), kit.Key{Role: kit.Producer})
	if err != nil {
		t.Fatal(err)
	}
	defer l.close(t.Context())
	login := door{auth.NewAuthenticationToken(o.Token), l}
	refuse := func() {
		newJournal(l).Warnf("Failed to establish connection with broker: '%s'", "AuthenticationError: expired")
	}

	refuse()
	l.admitted("t") // which begins anew
	logins := 0
	for range 20 {
		if _, err = login.GetData(); err != nil {
			break
		}
		logins++
		refuse()
	}
	if logins != 5 || !errors.Is(err, driver.ErrUnauthorized) {
		t.Errorf("%d logins, then %v", logins, err)
	}
	refuse()
	if len(told) != 1 || told[0].Kind != driver.GivenUp || !errors.Is(told[0].Err, driver.ErrUnauthorized) || !strings.Contains(told[0].Detail, "expired") {
		t.Errorf("%+v", told)
	}
	p := &producer{session: s, link: l, topic: "t"}
	if err := p.Send(1, []byte("x")); !errors.Is(err, driver.ErrUnauthorized) || !strings.Contains(fmt.Sprint(err), "expired") {
		t.Errorf("sent: %v", err)
	}
}

// A right that is revoked is asked for a few times with growing pauses, then that topic is
// given up, and no other.
func TestRevokedRightsAreGivenUp(t *testing.T) {
	t.Parallel()
	var told []driver.Event
	o := DefaultOptions()
	o.Token, o.HTTPURL = "x", "http://127.0.0.1:1"
	s, err := newSession(driver.Target{Run: "test", URL: "pulsar://127.0.0.1:1", Notify: func(e driver.Event) { told = append(told, e) }}, o)
	if err != nil {
		t.Fatal(err)
	}
	l, err := s.connect(t.Context(), kit.Key{Role: kit.Producer})
	if err != nil {
		t.Fatal(err)
	}
	defer l.close(t.Context())
	j, pauses := newJournal(l), l.pacing("t")()
	j.topic = "t-partition-1"
	refuse := func(text string) {
		j.WithError(errors.New(text)).Warn("Failed to reconnect to broker, will retry later.")
	}
	refuse("AuthorizationError: first")
	j.Info("Reconnected producer to broker") // which begins anew
	told = nil
	refuse("connection error")
	for range 7 {
		before := pauses.Next()
		refuse("AuthorizationError: no produce")
		if after := pauses.Next(); after <= before && before < never {
			t.Errorf("%v follow %v", after, before)
		}
	}
	if len(told) != 2 || told[0].Kind != driver.AsyncError || told[1].Kind != driver.GivenUp || !errors.Is(told[1].Err, driver.ErrUnauthorized) || !strings.Contains(told[1].Detail, "no produce") {
		t.Errorf("%+v", told)
	}
	if p := l.pacing("other")().Next(); pauses.Next() != never || p != o.ReconnectWait {
		t.Errorf("it is asked again in %v, and for another topic in %v", pauses.Next(), p)
	}
	p := &producer{session: s, link: l, topic: "t"}
	if err := p.Send(1, []byte("x")); !errors.Is(err, driver.ErrUnauthorized) || !strings.Contains(fmt.Sprint(err), "no produce") {
		t.Errorf("sent: %v", err)
	}
}

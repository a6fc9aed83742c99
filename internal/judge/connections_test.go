package judge

import (
	"strings"
	"testing"

	"sixnines/result"
)

// Refused connections are told in the broker's words, and where the login is refused the run is not VALID.
func TestRefusedConnectionsAreTold(t *testing.T) {
	for class, want := range map[string]result.Status{"": result.Valid, result.ClassUnauthorized: result.Suspect} {
		e := &evidence{run: &result.Run{}}
		e.run.Connections = &result.Connections{Scheduled: 80, Begun: 80, Opened: 10, Refused: 70}
		e.run.Events = []result.Event{{Kind: result.EventConnections, Class: class, Count: 70, Detail: "open a connection: no more are let in"}}
		found := refusedConnections(e)
		if len(found) != 1 || found[0].Status != want || found[0].Code != result.ReasonRefused || !strings.Contains(found[0].Found, "70 connections of 80") || !strings.Contains(found[0].Found, "no more are let in") {
			t.Errorf("class %q: %+v, want %s", class, found, want)
		}
		e.run.Connections = &result.Connections{Scheduled: 80, Begun: 80, Opened: 80}
		if found := refusedConnections(e); found != nil {
			t.Errorf("nothing is refused: %+v", found)
		}
	}
}

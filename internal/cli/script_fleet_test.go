//go:build unix

package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"sixnines/drivers/all"
	"sixnines/internal/fleet/agent"
	"sixnines/internal/fleet/control"
	"sixnines/internal/fleet/wire"
)

// cmdPlane: plane DIR starts a control plane, whose address is $SIXNINES_FLEET, whose certificate has the SHA-256 $PIN and
// is in $CA; $SIXNINES_FLEET_TOKEN is that of coordinators, and $JOIN that of agents.
func cmdPlane(ts *testscript.TestScript, _ bool, args []string) {
	dir := ts.MkAbs(args[0])
	s, err := control.Start(context.Background(), control.Options{Dir: dir, Host: "127.0.0.1"})
	ts.Check(err)
	ts.Defer(s.Close)
	l := s.Login()
	ts.Setenv(wire.AddressVariable, l.URL)
	ts.Setenv(wire.TokenVariable, l.Token)
	ts.Setenv("PIN", l.Pin)
	ts.Setenv("CA", filepath.Join(dir, "certificate.pem"))
	ts.Setenv("JOIN", s.JoinAt("127.0.0.1").Token)
}

// cmdJoin: join VERSION NAME LABEL=VALUE… has an agent join the control plane, that takes no plan.
func cmdJoin(ts *testscript.TestScript, _ bool, args []string) {
	labels := map[string]string{}
	for _, l := range args[2:] {
		key, value, _ := strings.Cut(l, "=")
		labels[key] = value
	}
	version := args[0]
	if version == "this" {
		version = BuiltTool().Version
	}
	ctx, leave := context.WithCancel(context.Background())
	joined, ended := make(chan wire.Hello, 1), make(chan error, 1)
	c := agent.Config{Login: wire.Login{URL: ts.Getenv(wire.AddressVariable), Token: ts.Getenv("JOIN"), Pin: ts.Getenv("PIN")}, Version: version, Name: args[1], Labels: labels,
		Dir: ts.MkAbs("agent-" + args[1]), Drivers: all.Set(), Joined: func(h wire.Hello) { joined <- h }}
	ts.Check(c.Allow.AddTarget("broker.example:*"))
	go func() { ended <- agent.Run(ctx, c) }()
	ts.Defer(func() { leave(); <-ended })
	select {
	case <-joined:
	case err := <-ended:
		ended <- err
		ts.Fatalf("%v", err)
	}
}

// cmdPropose: propose NAME FILE sends the scenario in FILE to the agent of this name, as a coordinator that has logged in
// does, and prints the answer.
func cmdPropose(ts *testscript.TestScript, _ bool, args []string) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	nc, err := wire.Connect(ctx, wire.Login{URL: ts.Getenv(wire.AddressVariable), Token: ts.Getenv(wire.TokenVariable), Pin: ts.Getenv("PIN")}, nil, nil)
	ts.Check(err)
	defer nc.Close()
	version := BuiltTool().Version
	found, err := wire.Find(ctx, nc, version, wire.Search{})
	ts.Check(err)
	i := slices.IndexFunc(found, func(f wire.Found) bool { return f.Hello.Name == args[0] })
	if i < 0 {
		ts.Fatalf("no agent %s", args[0])
	}
	text, err := wire.Encode(version, &wire.Plan{Run: "proposed", Scenario: ts.ReadFile(args[1]), Segment: wire.Segment{Of: 1}, Patience: time.Second, Limit: time.Second})
	ts.Check(err)
	m, err := nc.RequestWithContext(ctx, wire.RequestSubject(found[i].Hello.ID, wire.RequestPlan), text)
	ts.Check(err)
	answer := &wire.Answer{}
	ts.Check(wire.Decode(version, m.Data, answer))
	fmt.Fprintf(ts.Stdout(), "%s: %s\n", answer.Refused, answer.Why)
}

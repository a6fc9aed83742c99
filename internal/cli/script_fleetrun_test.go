//go:build unix

package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"sixnines/drivers/all"
	"sixnines/internal/fleet/agent"
	"sixnines/internal/fleet/control"
	"sixnines/internal/fleet/fleetrun"
	"sixnines/internal/fleet/wire"
)

// cmdMuster: muster N LABEL=VALUE… starts a control plane with N agents, which carry plans out in the test's process. $FLEET are the flags
// that name it.
func cmdMuster(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	labels := map[string]string{}
	for _, l := range args[1:] {
		key, value, _ := strings.Cut(l, "=")
		labels[key] = value
	}
	s, err := control.Start(context.Background(), control.Options{Dir: ts.MkAbs("control"), Host: "127.0.0.1"})
	ts.Check(err)
	ts.Defer(s.Close)
	l := s.Login()
	ts.Setenv("PLANE", l.URL)
	ts.Setenv("PIN", l.Pin)
	ts.Setenv(wire.TokenVariable, l.Token)
	join := s.JoinAt("127.0.0.1")
	for i := range n {
		ctx, leave := context.WithCancel(context.Background())
		joined, ended := make(chan wire.Hello, 1), make(chan error, 1)
		c := agent.Config{Login: join, Version: BuiltTool().Version, Name: fmt.Sprintf("m%d", i+1), Labels: labels, Dir: filepath.Join(ts.MkAbs("agents"), strconv.Itoa(i+1)),
			Drivers: all.Set(), Runner: &fleetrun.Runner{Tool: BuiltTool()}, Leave: time.Second, Joined: func(h wire.Hello) { joined <- h }}
		go func() { ended <- agent.Run(ctx, c) }()
		ts.Defer(func() { leave(); <-ended })
		select {
		case <-joined:
		case err := <-ended:
			ended <- err
			ts.Fatalf("%v", err)
		}
	}
}

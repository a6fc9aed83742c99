package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"sixnines/driver"
	"sixnines/internal/brokers"
	"sixnines/internal/engine"
	"sixnines/scenario"
)

// brokerCommand makes this program a NATS server: see [brokers.ServeNATS]. It
// is no command of the tree: the child has no flags, no help and no signals.
const brokerCommand = "__broker-nats"

func (a *app) serveBroker(args []string) int {
	return brokers.ServeNATS(a.Stdin, a.Stdout, a.Stderr, args)
}

// brokerStart is how long a broker of our own may take to start.
const brokerStart = 30 * time.Second

// embeddable reports whether this program can start the driver's broker.
func embeddable(e driver.Entry) bool { return e.Name == "nats" }

// needsURL reports whether a scenario says neither where its broker is nor lets
// us start one, nor does without: a broker whose usual address has no host lives
// inside the driver.
func needsURL(s *scenario.Scenario, e driver.Entry) bool {
	inside := strings.HasSuffix(e.DefaultURL, "://")
	return s.Target.URL == "" && !embeddable(e) && !e.Capabilities.Brokerless && !inside
}

// startBroker starts the scenario's broker in a child process.
func (a *app) startBroker(ctx context.Context, s *scenario.Scenario) (*brokers.Instance, error) {
	ctx, cancel := context.WithTimeout(ctx, brokerStart)
	defer cancel()
	i, err := brokers.StartNATS(ctx, brokers.NATSOptions{
		Command:    []string{a.Executable, brokerCommand},
		Env:        a.Environ,
		MaxPayload: max(brokers.DefaultMaxPayload, int(s.Workload.Size)),
	})
	if err != nil {
		return nil, failed("start a server yourself and name it with --url nats://HOST:4222", err)
	}
	return i, nil
}

// stopBroker ends a broker of our own, and tells of one that does not end.
func (a *app) stopBroker(i *brokers.Instance) {
	if err := i.Stop(context.Background()); err != nil {
		fmt.Fprintln(a.Stderr, oneLine(err.Error()))
	}
}

// watchBroker tells of a broker of our own that ends by itself, when it does.
func watchBroker(i *brokers.Instance, show display) {
	<-i.Done() // at the latest when it is stopped
	if err := i.Err(); err != nil {
		show.say(oneLine(err.Error()))
	}
}

// describe names a broker of our own for people.
func describe(i *brokers.Instance) string {
	return fmt.Sprintf("%s %s (process %d) at %s", i.Name, i.Version, i.PID, i.URL)
}

// usageOf returns what the broker's process has used, as the engine asks for it.
func usageOf(i *brokers.Instance) func() (engine.Usage, error) {
	return func() (engine.Usage, error) {
		u, err := i.Usage()
		return engine.Usage{CPU: u.UserCPU + u.SysCPU, RSS: u.RSS}, err
	}
}

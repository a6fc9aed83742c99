package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"sixnines/internal/fleet/agent"
	"sixnines/internal/fleet/fleetrun"
	"sixnines/internal/fleet/wire"
	"sixnines/scenario"
)

// agentOptions are the flags of agent.
type agentOptions struct {
	fleetLogin
	name, dir               string
	labels, allows, targets []string
	maxRate, maxSize        string
	maxConnections          int64
	leave                   time.Duration
}

// leaveDefault is how long an agent that is ended gives its run.
const leaveDefault = 20 * time.Second

func (a *app) agentCommand() *cobra.Command {
	var o agentOptions
	cmd := &cobra.Command{
		Use:   "agent --join URL",
		Short: "Make this machine an agent of a fleet",
		Long: `Make this machine an agent of a fleet: it connects to the control plane, waits for runs
until Ctrl-C or SIGTERM, and carries out its segment of each. No port of it is
open to all: agents with roles and several clocks ask each other's, and answer nobody else.

An agent carries out scenarios, not commands. Plans that name files or variables of this
machine, brokers to start, faults or conditions of the network are refused, whoever sends
them. --allow lets plans name a file, by what it is for (tls-ca, tls-cert, tls-key, trace,
payload, or option.NAME for an option of the driver), or read a variable (env=NAME).
--allow-target, --max-rate, --max-size and --max-connections bound what it sends to whom.

When it is ended it ends its run, delivers what it recorded, and leaves within --leave.
What the coordinator has not confirmed until then stays below --dir.

Exit codes: 0 ended by a signal; 1 failure; 2 wrong usage, a login that is refused, a
name that another agent has, or an agent of another version in the fleet.`,
		Example: `  SIXNINES_FLEET_TOKEN=… sixnines agent --join tls://control.example:4222 --pin 2f6a…
  sixnines agent --join tls://control.example:4222 --creds agent.creds --label zone=b \
      --allow tls-ca=/etc/ssl/broker-ca.pem --allow env=BROKER_PASSWORD \
      --allow-target 'broker.example:*' --max-rate 50k/s`,
		Args: counted(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.agent(cmd.Context(), o) },
	}
	plane := sectionOf("Control plane", func(f *pflag.FlagSet) {
		o.flags(f, "join", "", "`URL` of the control plane: nats://host:4222, or tls://host:4222 where the connection is encrypted; default: the variable "+wire.AddressVariable)
	})
	self := sectionOf("Agent", func(f *pflag.FlagSet) {
		f.StringVar(&o.name, "name", "", "`NAME` of the agent, unique in the fleet; default: the machine's")
		f.StringArrayVar(&o.labels, "label", nil, "a label `KEY=VALUE`, by which scenarios and commands choose agents; repeatable")
		f.StringVar(&o.dir, "dir", "", "`DIR` for what is recorded, until the coordinator has confirmed it; default: one below SIXNINES_HOME")
		timeFlag(f, &o.leave, "leave", leaveDefault, "when it is ended, give its run this `TIME` to end and to be delivered")
	})
	allowed := sectionOf("What plans may ask for", func(f *pflag.FlagSet) {
		f.StringArrayVar(&o.allows, "allow", nil, "let plans name a file, `USE=FILE`, such as tls-ca=ca.pem, or read a variable, env=NAME; repeatable")
		f.StringArrayVar(&o.targets, "allow-target", nil, "only brokers, and agents whose clock is asked, at `HOST:PORT`, or HOST:* for all ports; repeatable; default: all")
		f.StringVar(&o.maxRate, "max-rate", "", "at most this `RATE` from here, such as 50k/s; default: no limit")
		f.StringVar(&o.maxSize, "max-size", "", "payloads of at most this `SIZE`, such as 64KiB; default: no limit")
		f.Int64Var(&o.maxConnections, "max-connections", 0, "at most `N` connections from here at a time; default: no limit")
	})
	a.take(cmd, plane, self, allowed)
	return cmd
}

// agent is an agent until it is ended.
func (a *app) agent(ctx context.Context, o agentOptions) error {
	c, err := o.config(a)
	if err != nil {
		return err
	}
	c.Say = func(line string) { fmt.Fprintln(a.Stderr, line) }
	ctx, release := a.interruptible(ctx, nil)
	defer release()
	err = agent.Run(ctx, c)
	var file *fs.PathError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &file) && wire.Why(err) == wire.Other:
		return failed("name a writable directory with --dir", err)
	}
	return o.fault(err)
}

// config is what the flags say.
func (o *agentOptions) config(a *app) (c agent.Config, err error) {
	c = agent.Config{Version: a.Tool.Version, Name: o.name, Drivers: a.Drivers, Lookup: a.lookup, Leave: o.leave,
		Runner: &fleetrun.Runner{Tool: a.Tool, Idle: a.self(idleCommand)}}
	if err := o.named(&a.Env); err != nil {
		return c, err
	}
	if c.Login, err = o.given(&a.Env); err != nil {
		return c, err
	}
	if o.name != "" {
		if err := wire.CheckName(o.name); err != nil {
			return c, wrongUsage("write for example --name load-1", "--name: %w", err)
		}
	}
	c.Labels = map[string]string{}
	for _, text := range o.labels {
		key, value, ok := strings.Cut(text, "=")
		if !ok {
			return c, wrongUsage("write it as --label zone=b", "--label: %q is not KEY=VALUE", text)
		}
		c.Labels[key] = value
	}
	if err := wire.CheckLabels(c.Labels); err != nil {
		return c, wrongUsage("write it as --label zone=b", "--label: %w", err)
	}
	if err := o.allow(&c.Allow); err != nil {
		return c, err
	}
	if o.leave <= 0 {
		return c, wrongUsage("write for example --leave 20s", "--leave cannot be 0")
	}
	if o.dir != "" {
		c.Dir = a.path(o.dir)
		return c, nil
	}
	h, err := a.home()
	if err != nil {
		return c, failed("name a directory with --dir", err)
	}
	c.Dir = h.Path("fleet", "records")
	return c, nil
}

// allow adds what the flags allow.
func (o *agentOptions) allow(to *agent.Allow) error {
	for _, text := range o.allows {
		if err := to.Add(text); err != nil {
			return wrongUsage("write it as --allow tls-ca=FILE or --allow env=NAME", "--allow: %w", err)
		}
	}
	for _, text := range o.targets {
		if err := to.AddTarget(text); err != nil {
			return wrongUsage("write it as --allow-target broker.example:9092", "--allow-target: %w", err)
		}
	}
	if o.maxRate != "" {
		r, err := scenario.ParseRate(o.maxRate)
		if err != nil || r.IsMax() || r.Float() < 1 {
			return wrongUsage("write for example --max-rate 50k/s", "--max-rate: %q is not a rate from 1/s", o.maxRate)
		}
		to.Rate = int64(r.Float())
	}
	if o.maxSize != "" {
		s, err := scenario.ParseSize(o.maxSize)
		if err != nil || s <= 0 {
			return wrongUsage("write for example --max-size 64KiB", "--max-size: %q is not a size", o.maxSize)
		}
		to.Size = int64(s)
	}
	if o.maxConnections < 0 {
		return wrongUsage("write for example --max-connections 100", "--max-connections cannot be %d", o.maxConnections)
	}
	to.Connections = o.maxConnections
	return nil
}

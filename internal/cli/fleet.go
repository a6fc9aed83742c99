package cli

import (
	"context"

	"github.com/spf13/cobra"

	"sixnines/internal/fleet/wire"
)

func (a *app) fleetCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "fleet",
		Short: "See the agents of a fleet and the runs on them",
		Long: `See the agents of a fleet and the runs on them.

A fleet is machines with an agent each, see sixnines agent, and a control plane: a NATS
server with JetStream that agents and commands connect to. The commands below take its
address from --fleet: nats://host:4222, tls://host:4222 where the connection is
encrypted, or embedded for the one that a command of this user runs on this machine.
Beyond loopback the connection must be encrypted and authenticated.`,
		Example: `  sixnines fleet list --fleet tls://control.example:4222 --tls-ca ca.pem
  sixnines fleet doctor --fleet embedded --url nats://broker.example:4222
  sixnines fleet stop 20261121T140200Z-1f2e3d4c --fleet embedded`,
		Args: unknownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.fleetListCommand(), a.fleetDoctorCommand(), a.fleetStopCommand(), a.fleetAttachCommand(), a.fleetServeCommand(), a.fleetManifestsCommand())
	return cmd
}

// fleetFlag is what --fleet of the commands about a fleet is.
const fleetFlag = "`URL` of the control plane, or " + embedded + "; default: the variable " + wire.AddressVariable

// onFleet connects to the control plane and calls do.
func (l *fleetLogin) onFleet(ctx context.Context, env *Env, name string, do func(ctx context.Context, nc *wire.Conn) error) error {
	if err := l.named(env); err != nil {
		return err
	}
	ctx, release := env.interruptible(ctx, nil)
	defer release()
	nc, err := l.connect(ctx, env, name, controlPatience, nil)
	if err != nil {
		return err
	}
	defer nc.Close()
	if err := do(ctx, nc); err != nil {
		return l.fault(err)
	}
	return nil
}

package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"sixnines/internal/brokers"
)

func (a *app) brokerDownCommand() *cobra.Command {
	var all, keep bool
	cmd := &cobra.Command{
		Use:   "down NAME… | --all",
		Short: "Stop brokers that broker up started",
		Long: `Stop brokers that broker up started, and remove their data. Only processes that broker
up started are ended, even if they are frozen.`,
		Example: `  sixnines broker down kafka
  sixnines broker down --all
  sixnines broker down redis --keep-data`,
		ValidArgsFunction: completeProducts,
		RunE: func(cmd *cobra.Command, args []string) error {
			h, err := a.home()
			if err != nil {
				return err
			}
			names := args
			if all && len(args) == 0 {
				states, err := brokers.States(h)
				if err != nil {
					return brokerFault(err, brokers.Product{}, byHome)
				}
				names = each(states, func(s *brokers.State) string { return s.Product })
			} else if _, err := chosen(cmd, args, all); err != nil {
				return err
			}
			return a.down(cmd.Context(), h, names, keep)
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "all running brokers")
	cmd.Flags().BoolVar(&keep, "keep-data", false, "shut them down cleanly, and keep configuration, data and logs")
	return cmd
}

func (env *Env) down(ctx context.Context, h brokers.Home, names []string, keep bool) error {
	var failures []error
	var last brokers.Product
	for _, name := range names {
		s, err := brokers.Down(ctx, h, name, keep)
		if err != nil {
			failures = append(failures, err)
			last, _ = product(name)
			continue
		}
		fmt.Fprintf(env.Stderr, "%s is stopped\n", name)
		if keep {
			fmt.Fprintln(env.Stdout, s.Dir)
		}
	}
	if len(failures) > 0 {
		return brokerFault(errors.Join(failures...), last, byHome)
	}
	return nil
}

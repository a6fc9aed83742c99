package cli

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"sixnines/internal/brokers"
)

func (a *app) brokerLogsCommand() *cobra.Command {
	var follow bool
	cmd := &cobra.Command{
		Use:               "logs NAME",
		Short:             "Print the output of a broker's processes",
		Example:           "  sixnines broker logs kafka --follow",
		Args:              counted(1, 1, "the NAME of a broker that was started"),
		ValidArgsFunction: firstArgument(completeProducts),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := product(args[0])
			if err != nil {
				return err
			}
			h, err := a.home()
			if err != nil {
				return err
			}
			s, err := brokers.ReadState(h, p.Name)
			if err == nil && s == nil {
				err = fmt.Errorf("brokers: logs of %s: %w", p.Name, brokers.ErrNotRunning)
			}
			if err != nil {
				return brokerFault(err, p, byHome)
			}
			ctx, release := a.interruptible(cmd.Context(), nil)
			defer release()
			return a.logs(ctx, s, follow)
		},
	}
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "follow the output until Ctrl-C or the end of the broker")
	return cmd
}

// logs copies the processes' logs to stdout, each line with its process where
// there are several.
func (env *Env) logs(ctx context.Context, s *brokers.State, follow bool) error {
	var all []*logFile
	for _, p := range s.List {
		l := &logFile{growing: growing{path: p.Log}, to: env.Stdout}
		if len(s.List) > 1 {
			l.prefix = p.Name + "  "
		}
		all = append(all, l)
		defer l.close()
	}
	pause := time.NewTicker(growPause)
	defer pause.Stop()
	for {
		over := !follow || ctx.Err() != nil || len(s.Alive()) == 0
		for _, l := range all {
			if err := l.print(over); err != nil {
				return failed("see sixnines broker list", fmt.Errorf("read the log: %w", err))
			}
		}
		if over {
			return nil
		}
		select {
		case <-ctx.Done():
		case <-pause.C:
		}
	}
}

// logFile is a log that grows.
type logFile struct {
	growing
	prefix string
	to     io.Writer
	rest   []byte // of a line that is not complete
}

// print writes the new lines; with last, also an incomplete line at the end.
func (l *logFile) print(last bool) error {
	err := l.copy(l)
	if err == nil && last && len(l.rest) > 0 {
		_, err = l.Write([]byte{'\n'})
	}
	return err
}

// Write writes the complete lines of text, and keeps the rest.
func (l *logFile) Write(text []byte) (int, error) {
	for i, c := range text {
		l.rest = append(l.rest, c)
		if c != '\n' {
			continue
		}
		if _, err := io.WriteString(l.to, l.prefix+string(l.rest)); err != nil {
			return i, err
		}
		l.rest = l.rest[:0]
	}
	return len(text), nil
}

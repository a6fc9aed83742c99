package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sixnines/internal/telemetry"
)

// exporting calls do, which makes runs, while it exports metrics as the flags ask. It does not
// call do if an exporter cannot be started.
func (a *app) exporting(ctx context.Context, o outputOptions, do func() error) error {
	if err := o.fleet.check(&o); err != nil {
		return err
	}
	a.revision = o.revision
	if o.live != "" {
		close, err := a.servePage(o)
		if err != nil {
			return err
		}
		defer close()
	}
	if o.metrics == "" && o.otlp == "" {
		return a.onFleet(&o, do)
	}
	say := func(format string, args ...any) {
		if !o.quiet {
			fmt.Fprintf(a.Stderr, format+"\n", args...)
		}
	}
	a.live = telemetry.NewLive()
	var target telemetry.Target
	var err error
	if o.otlp != "" {
		target, err = telemetry.NewTarget(o.otlp, a.getenv("OTEL_EXPORTER_OTLP_HEADERS"), a.getenv("OTEL_EXPORTER_OTLP_METRICS_HEADERS"))
		if err != nil {
			return wrongUsage("write for example --otlp http://collector:4318; put logins and keys into OTEL_EXPORTER_OTLP_HEADERS as key=value,key=value", "--otlp: %w", err)
		}
	}
	var server *telemetry.Server
	if o.metrics != "" {
		if server, err = telemetry.Listen(o.metrics, a.live); err != nil {
			return wrongUsage("give an address of this machine with a free port, such as --metrics :9464 or --metrics :0",
				"--metrics %s: %w", o.metrics, err)
		}
		say("metrics http://%s/metrics", server.Address())
	}
	if o.otlp != "" {
		if a.push, err = telemetry.Push(target, a.live, a.Tool.Version, telemetry.Period, a.getenv); err != nil {
			if server != nil {
				err = errors.Join(err, server.Close())
			}
			return wrongUsage("check the environment variables OTEL_EXPORTER_OTLP_…", "--otlp %s: %w", target, err)
		}
	}
	err = do()
	if a.push != nil {
		untilSignal, stop := a.interruptible(ctx, nil)
		pushes := a.push.Close(untilSignal)
		stop()
		if pushes.Failed > 0 {
			fmt.Fprintf(a.Stderr, "otlp    %d of %d pushes failed, the last with: %v; the results are complete\n", pushes.Failed, pushes.Made, pushes.Failure)
		}
		if pushes.Unreported > 0 {
			fmt.Fprintf(a.Stderr, "otlp    %s did not receive the end of %s\n", target, plural(pushes.Unreported, "run"))
		}
	}
	if server == nil {
		return err
	}
	if due := server.Due(); due > 0 {
		say("metrics wait for the next scrape, at most %s; Ctrl-C ends the wait", seconds(due.Round(time.Second)))
		untilSignal, stop := a.interruptible(ctx, nil)
		server.Await(untilSignal)
		stop()
	}
	if lost := server.Close(); lost != nil {
		return errors.Join(err, lost)
	}
	return err
}

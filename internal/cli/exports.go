package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"sixnines/internal/telemetry"
)

// exporting does what makes runs while monitoring systems are told of them, as far as
// the flags ask for it. Nothing is started where one of them cannot be told.
func (a *app) exporting(ctx context.Context, o outputOptions, do func() error) error {
	if o.metrics == "" {
		return do()
	}
	a.live = &telemetry.Live{}
	server, err := telemetry.Listen(o.metrics, a.live)
	if err != nil {
		return wrongUsage("write an address of this machine with a port that is free, such as --metrics :9091 or --metrics 127.0.0.1:0",
			"--metrics %s: %w", o.metrics, err)
	}
	if !o.quiet {
		fmt.Fprintf(a.Stderr, "metrics http://%s/metrics\n", server.Address())
	}
	err = do()
	if due := server.Due(); due > 0 {
		if !o.quiet {
			fmt.Fprintf(a.Stderr, "metrics wait for the next scrape, for %s at most; Ctrl-C ends\n", seconds(due.Round(time.Second)))
		}
		a.untilSignal(ctx, server.Await)
	}
	return errors.Join(err, server.Close())
}

// untilSignal does what may be ended by a signal without loss.
func (a *app) untilSignal(ctx context.Context, do func(context.Context)) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var signals <-chan os.Signal
	if a.Signals != nil {
		var release func()
		signals, release = a.Signals()
		defer release()
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		do(ctx)
	}()
	select {
	case <-signals:
		cancel()
		<-done
	case <-done:
	}
}

package probe

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"sixnines/internal/clock"
	"sixnines/scenario"
)

// endLimit is how long a probe may take to end once it was asked to: longer than
// its last messages, and disconnecting from a broker that does not answer.
const endLimit = 20 * time.Second

// Serve makes this process a probe: it reads its scenario from stdin, has run
// measure until stdin is closed, with report for its reports, and returns
// when run has. If run does not return in time, the process ends.
func Serve(stdin io.Reader, stdout io.Writer, run func(ctx context.Context, s *scenario.Scenario, report func(Report)) error) error {
	// A starter that was killed reads no more, and a write on standard output would
	// end this process before it has deleted its topic.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	in := bufio.NewReaderSize(stdin, scenario.MaxText)
	text, err := in.ReadSlice('\n')
	if errors.Is(err, io.EOF) {
		return nil // the starter has ended
	}
	if err != nil {
		return fmt.Errorf("read the scenario: %w", err)
	}
	s, err := scenario.FromJSON("probe", text)
	if err != nil {
		return err
	}
	s.Normalise()
	if err := s.Validate(); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		_, _ = io.Copy(io.Discard, in) // until it is closed
		time.AfterFunc(endLimit, func() { os.Exit(1) })
		cancel()
	}()
	out := json.NewEncoder(stdout)
	begun := false
	err = run(ctx, s, func(r Report) {
		if !begun {
			begun = true
			_ = out.Encode(Report{Domain: clock.Domain()})
		}
		if r.To > 0 {
			_ = out.Encode(r) // a starter that has ended has closed this process's input, too
		}
	})
	if ctx.Err() != nil {
		return nil // an error at the end has no reader
	}
	return err
}

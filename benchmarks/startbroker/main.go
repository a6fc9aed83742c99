// Command startbroker starts a broker for a comparison and stops it when its
// standard input ends.
//
//	startbroker [-set NAME=VALUE]… PRODUCT
//
// When the broker answers, one line of JSON on standard output says where. The
// broker does not outlive the command, whatever happens to it; that is what
// "sixnines broker up" is for.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"sixnines/internal/brokers"
)

// startLimit is how long a broker may take to answer.
const startLimit = 2 * time.Minute

func main() {
	if err := run(os.Args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintf(os.Stderr, "startbroker: %v\n", err)
		os.Exit(1)
	}
}

// answer is what the program prints about a broker.
type answer struct {
	URL     string            `json:"url"`
	URLs    map[string]string `json:"urls"`    // by driver
	Version string            `json:"version"` // of the product
	Path    string            `json:"path"`    // of the installation
}

func run(args, environ []string, stdin io.Reader, stdout, stderr io.Writer) error {
	o := brokers.Options{Settings: map[string]string{}}
	flags := flag.NewFlagSet("startbroker", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Func("set", "a line of the broker's own configuration, as `NAME=VALUE`", func(text string) error {
		name, value, ok := strings.Cut(text, "=")
		if !ok {
			return fmt.Errorf("%q is no NAME=VALUE", text)
		}
		o.Settings[name] = value
		return nil
	})
	if err := flags.Parse(args); err != nil {
		return err
	}
	p, ok := brokers.Lookup(flags.Arg(0))
	if !ok || flags.NArg() != 1 {
		return fmt.Errorf("want the name of one product, not %q", flags.Args())
	}
	dir, err := brokers.DefaultDir(environ)
	if err != nil {
		return err
	}
	o.Home = brokers.Home{Dir: dir, Environ: environ}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return serve(ctx, p, o, stdin, stdout)
}

// serve keeps the broker until stdin or ctx ends.
func serve(ctx context.Context, p brokers.Product, o brokers.Options, stdin io.Reader, stdout io.Writer) error {
	in, err := p.Find(ctx, o.Home)
	if err != nil {
		return err
	}
	starting, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	c, err := brokers.Start(starting, p, o)
	if err != nil {
		return err
	}
	defer c.Stop(context.WithoutCancel(ctx))
	a := answer{URL: c.URL, URLs: map[string]string{}, Version: c.Version, Path: in.Path}
	for _, driver := range p.Drivers {
		a.URLs[driver] = c.URLFor(driver)
	}
	if err := json.NewEncoder(stdout).Encode(a); err != nil {
		return err
	}
	ended := make(chan struct{})
	go func() {
		io.Copy(io.Discard, stdin)
		close(ended)
	}()
	select {
	case <-ended:
	case <-ctx.Done():
	}
	return c.Err()
}

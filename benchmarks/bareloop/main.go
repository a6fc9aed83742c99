//go:build linux

// Bareloop measures delivery latency through nats.go and nothing else: one
// locked thread that sleeps absolutely and publishes, one subscription that
// stamps, arrays. It stands between the C reference client and Sixnines and
// shows which part of their difference is the client library and the Go
// runtime. Its output has the shape of natslat's.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"
)

const (
	exitFailure = 1
	exitUsage   = 2
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run measures once as args ask for and returns the exit status: 0 measured
// and everything arrived unharmed, 1 failure or messages lost or harmed, 2
// usage.
func run(args []string, stdout, stderr io.Writer) int {
	load, err := parse(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintf(stderr, "bareloop: %v\n", err)
		return exitUsage
	}
	trial, err := measure(load)
	if err != nil {
		fmt.Fprintf(stderr, "bareloop: %v\n", err)
		return exitFailure
	}
	figures := trial.figures()
	if err := json.NewEncoder(stdout).Encode(figures); err != nil {
		fmt.Fprintf(stderr, "bareloop: standard output: %v\n", err)
		return exitFailure
	}
	if !figures.Counters.intact() {
		fmt.Fprintf(stderr, "bareloop: messages lost or harmed: %+v\n", figures.Counters)
		return exitFailure
	}
	return 0
}

// parse reads and validates the command line.
func parse(args []string, stderr io.Writer) (load, error) {
	var l load
	flags := flag.NewFlagSet("bareloop", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&l.url, "url", "nats://127.0.0.1:4222", "the server's `URL`")
	flags.StringVar(&l.subject, "subject", "bareloop", "`subject` used")
	flags.Uint64Var(&l.rate, "rate", 1000, "messages a second")
	flags.IntVar(&l.size, "size", 256, "`bytes` of payload, from 32")
	flags.DurationVar(&l.duration, "duration", 10*time.Second, "window measured")
	flags.DurationVar(&l.warmup, "warmup", time.Second, "same load before it, not measured")
	flags.IntVar(&l.writeBuffer, "write-buffer", 0,
		"nats.WriteBufferSize in `bytes`; 0 leaves the default (a goroutine flushes), 1 writes on the caller's thread")
	flags.BoolVar(&l.checksum, "checksum", false, "CRC-32C over every payload, computed and checked")
	if err := flags.Parse(args); err != nil {
		return load{}, err
	}
	if flags.NArg() > 0 {
		return load{}, fmt.Errorf("%q is not an option", flags.Arg(0))
	}
	return l, l.validate()
}

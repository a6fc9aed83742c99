// Command sixnines measures the latency of message brokers.
package main

import (
	"context"
	"io"
	"log"
	"os"

	"golang.org/x/term"

	"sixnines/drivers/all"
	"sixnines/internal/cli"
)

func main() {
	// Client libraries write to it. What matters of that drivers tell as events.
	log.SetOutput(io.Discard)
	executable, err := os.Executable()
	if err != nil {
		executable = os.Args[0]
	}
	os.Exit(cli.Main(context.Background(), cli.Env{
		Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Environ: os.Environ(), Executable: executable, Drivers: all.Set(), Tool: cli.BuiltTool(),
		Terminal: terminal, Signals: cli.Signals,
	}))
}

// terminal reports whether stream is a terminal, and its width.
func terminal(stream io.Writer) (columns int, ok bool) {
	f, isFile := stream.(*os.File)
	if !isFile || !term.IsTerminal(int(f.Fd())) {
		return 0, false
	}
	columns, _, err := term.GetSize(int(f.Fd()))
	return columns, err == nil
}

package brokers

import (
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/nats-io/nats-server/v2/server"
)

// ServeNATS is the main function of the processes of the built-in NATS server. args are
// -c FILE, the configuration file, and optionally -detach. It runs the server as the real
// program does and returns the process's exit code. The server logs to stderr, or where the
// file says, and ends by SIGTERM, SIGINT and, without -detach, with stdin.
func ServeNATS(stdin io.Reader, stderr io.Writer, args []string) int {
	flags := flag.NewFlagSet("nats", flag.ContinueOnError)
	flags.SetOutput(stderr)
	config := flags.String("c", "", "the configuration `file`")
	detach := flags.Bool("detach", false, "keep running when standard input ends")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if *config == "" || flags.NArg() > 0 {
		fmt.Fprintln(stderr, "nats-server: give it -c FILE and no further arguments")
		return 2
	}
	if *detach {
		stdin = nil
	}
	return serveConfigured(stdin, stderr, *config)
}

// serveConfigured runs the server that the file describes until SIGTERM comes or
// stdin, unless it is nil, ends.
func serveConfigured(stdin io.Reader, stderr io.Writer, file string) int {
	fail := func(err error) int {
		fmt.Fprintf(stderr, "nats-server: %v\n", err)
		return 1
	}
	o, err := server.ProcessConfigFile(file)
	if err != nil {
		return fail(err)
	}
	o.NoSigs = true // the server's own handler would end the process
	s, err := server.NewServer(o)
	if err != nil {
		return fail(err)
	}
	s.ConfigureLogger()
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(asked)
	orphaned := make(chan struct{})
	if stdin != nil {
		go func() {
			io.Copy(io.Discard, stdin)
			close(orphaned)
		}()
	}
	s.Start()
	select {
	case <-asked:
	case <-orphaned:
	}
	s.Shutdown()
	s.WaitForShutdown()
	return 0
}

package nullbroker

import (
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"
)

// heapGrowth is the process's GOGC: it allocates only while its buffers grow.
const heapGrowth = 800

// Main is the main function of the null broker's process. It serves until
// SIGTERM comes or stdin ends, and returns the exit code. args:
//
//	-listen ADDRESS   where to listen
//	-delay LAW        see [ParseLaw]; default none
//	-server LAW       of a single server's service times; default none
//	-seed N           of both; default 1
//	-log FILE         see [Config]
//	-detach           go on when stdin ends
func Main(stdin io.Reader, stderr io.Writer, args []string) int {
	flags := flag.NewFlagSet("null", flag.ContinueOnError)
	flags.SetOutput(stderr)
	listen := flags.String("listen", "127.0.0.1:0", "the `address` to listen at")
	delay := flags.String("delay", "none", "the `law` of delays: "+lawNotation)
	server := flags.String("server", "none", "the `law` of a single server's service times")
	seed := flags.Uint64("seed", 1, "of the delays and service times")
	logFile := flags.String("log", "", "the `file` that takes an entry for every message")
	detach := flags.Bool("detach", false, "go on when standard input ends")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	wrong := func(code int, err error) int {
		fmt.Fprintf(stderr, "null broker: %v\n", err)
		return code
	}
	law, err := ParseLaw(*delay)
	if err != nil {
		return wrong(2, err)
	}
	service, err := ParseLaw(*server)
	if err != nil {
		return wrong(2, err)
	}
	if flags.NArg() > 0 {
		return wrong(2, fmt.Errorf("there are no further arguments, such as %q", flags.Arg(0)))
	}
	debug.SetGCPercent(heapGrowth)
	config := Config{Law: law, Server: service, Seed: *seed, Log: *logFile}
	if config.holds() {
		// The thread that sleeps keeps a processor.
		runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 1)
	}
	b, err := New(config)
	if err != nil {
		return wrong(1, err)
	}
	l, err := net.Listen("tcp", *listen)
	if err != nil {
		b.Close()
		return wrong(1, err)
	}
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(ended)
	orphaned := make(chan struct{})
	if !*detach {
		go func() {
			io.Copy(io.Discard, stdin)
			close(orphaned)
		}()
	}
	served := make(chan error, 1)
	go func() { served <- b.Serve(l) }()
	select {
	case <-ended:
	case <-orphaned:
	case err := <-served:
		l.Close()
		b.Close()
		return wrong(1, err)
	}
	l.Close()
	if err := b.Close(); err != nil {
		return wrong(1, err)
	}
	return 0
}

package brokers

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"sixnines/internal/spell"
)

// readyLimit is how long the server may take to listen. It takes milliseconds;
// callers that wait for less pass a context.
const readyLimit = 30 * time.Second

// ServeNATS is the main function of the processes of the NATS server that is
// built in. It runs the server until stdin ends and returns the process's exit
// code.
//
// With args of -c FILE the server is the one that a configuration file
// describes, as the real program's is; it logs to stderr, or where the file
// says, and also ends by SIGTERM. A further -detach lets it outlive its stdin.
//
// Else the server listens on a free port of loopback, see [StartNATS]. Once it
// accepts connections, it prints one line of JSON with its url, version and
// gomaxprocs on stdout; warnings and errors go to stderr. args may be
// -max-payload BYTES.
func ServeNATS(stdin io.Reader, stdout, stderr io.Writer, args []string) int {
	flags := flag.NewFlagSet("nats", flag.ContinueOnError)
	flags.SetOutput(stderr)
	maxPayload := flags.Int("max-payload", DefaultMaxPayload, "the largest message, in `bytes`")
	config := flags.String("c", "", "the configuration `file`")
	detach := flags.Bool("detach", false, "go on when standard input ends")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if *config != "" && flags.NArg() == 0 {
		if *detach {
			stdin = nil
		}
		return serveConfigured(stdin, stderr, *config)
	}
	if flags.NArg() > 0 || *maxPayload <= 0 || *maxPayload > math.MaxInt32 {
		fmt.Fprintf(stderr, "nats-server: -max-payload wants 1 to %d bytes, and there are no further arguments\n", math.MaxInt32)
		return 2
	}
	s, err := server.NewServer(&server.Options{
		Host:       "127.0.0.1",
		Port:       server.RANDOM_PORT,
		NoSigs:     true,
		MaxPayload: int32(*maxPayload),
		// The server refuses to carry more than it may hold for a slow client.
		MaxPending: max(server.MAX_PENDING_SIZE, int64(*maxPayload)),
	})
	if err != nil {
		fmt.Fprintf(stderr, "nats-server: %v\n", err)
		return 1
	}
	s.SetLoggerV2(warnings{stderr}, false, false, false)
	orphaned := make(chan struct{})
	go func() {
		io.Copy(io.Discard, stdin)
		close(orphaned)
	}()
	s.Start()
	defer s.WaitForShutdown()
	defer s.Shutdown()
	if !s.ReadyForConnections(readyLimit) {
		fmt.Fprintf(stderr, "nats-server: does not listen on loopback after %s\n", spell.Period(readyLimit))
		return 1
	}
	report := ready{URL: s.ClientURL(), Version: server.VERSION, Processors: runtime.GOMAXPROCS(0)}
	if err := json.NewEncoder(stdout).Encode(report); err != nil {
		fmt.Fprintf(stderr, "nats-server: its address could not be written: %v\n", err)
		return 1
	}
	<-orphaned
	return 0
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
	o.NoSigs = true // it would end the process, not only the server
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

// warnings is a server.Logger that writes what people should know of.
type warnings struct{ to io.Writer }

func (w warnings) Warnf(format string, v ...any)  { fmt.Fprintf(w.to, "warning: "+format+"\n", v...) }
func (w warnings) Errorf(format string, v ...any) { fmt.Fprintf(w.to, "error: "+format+"\n", v...) }
func (w warnings) Fatalf(format string, v ...any) { fmt.Fprintf(w.to, "fatal: "+format+"\n", v...) }
func (warnings) Noticef(string, ...any)           {}
func (warnings) Debugf(string, ...any)            {}
func (warnings) Tracef(string, ...any)            {}

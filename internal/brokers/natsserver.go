package brokers

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math"
	"runtime"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// readyLimit is how long the server may take to listen. It takes milliseconds;
// whoever waits for less has a context.
const readyLimit = 30 * time.Second

// ServeNATS is the main function of the process that [StartNATS] starts: it
// runs a NATS server on a free port of loopback until stdin ends, and returns
// the process's exit code. Once the server accepts connections, it prints one
// line of JSON with its url, version and gomaxprocs on stdout; warnings and
// errors go to stderr.
//
// args may be -max-payload BYTES.
func ServeNATS(stdin io.Reader, stdout, stderr io.Writer, args []string) int {
	flags := flag.NewFlagSet("nats", flag.ContinueOnError)
	flags.SetOutput(stderr)
	maxPayload := flags.Int("max-payload", DefaultMaxPayload, "the largest message, in `bytes`")
	if err := flags.Parse(args); err != nil {
		return 2
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
		fmt.Fprintf(stderr, "nats-server: does not listen on loopback after %v\n", readyLimit)
		return 1
	}
	report := ready{URL: s.ClientURL(), Version: server.VERSION, Processors: runtime.GOMAXPROCS(0)}
	if err := json.NewEncoder(stdout).Encode(report); err != nil {
		fmt.Fprintf(stderr, "nats-server: nobody takes the address: %v\n", err)
		return 1
	}
	<-orphaned
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

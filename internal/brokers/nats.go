package brokers

import (
	"context"
	"fmt"
	"io"
	"math"
	"strconv"

	"sixnines/internal/spell"
)

// DefaultMaxPayload is the largest message in bytes that a NATS server started
// here carries by default. The product's own default is 1 MiB of
// payload and headers together.
const DefaultMaxPayload = 8 << 20

// NATSOptions says how to start a NATS server. Command is required.
type NATSOptions struct {
	// Command is the program that becomes the server and its first arguments,
	// such as this program's own executable and the name of the command that
	// calls [ServeNATS]; the server's arguments are appended to it.
	Command []string
	// Env is the process's environment as in os/exec; nil means this
	// process's own. It is also how GOMAXPROCS of the server is set: left
	// alone, Go chooses it by the processors that the process may use.
	Env []string
	// Dir is the process's working directory; empty means this process's own.
	// The server keeps no files there.
	Dir string
	// MaxPayload is the largest message in bytes, at most 2³¹−1; 0 means
	// [DefaultMaxPayload].
	MaxPayload int
	// Stderr, if not nil, receives the warnings and errors that the server
	// logs, from one goroutine.
	Stderr io.Writer
}

// StartNATS starts a NATS server in a child process and returns when it
// accepts connections. It listens on a free port of loopback, which the kernel
// chooses, without authentication and without JetStream.
//
// ctx limits the start only: if it ends earlier, the process has ended, too,
// when StartNATS returns. Whoever gets an Instance must stop it.
func StartNATS(ctx context.Context, o NATSOptions) (*Instance, error) {
	if o.MaxPayload == 0 {
		o.MaxPayload = DefaultMaxPayload
	}
	if o.MaxPayload < 0 || o.MaxPayload > math.MaxInt32 {
		return nil, fmt.Errorf("brokers: start nats-server: messages of up to %s are asked for; it carries up to %s", spell.Size(o.MaxPayload), spell.Size(math.MaxInt32))
	}
	command := o.Command
	if len(command) > 0 {
		command = append(command[:len(command):len(command)], "-max-payload", strconv.Itoa(o.MaxPayload))
	}
	return start(ctx, launch{name: "nats-server", command: command, env: o.Env, dir: o.Dir, stderr: o.Stderr})
}

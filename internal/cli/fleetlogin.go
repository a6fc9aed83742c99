package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"sixnines/internal/fleet/agent"
	"sixnines/internal/fleet/control"
	"sixnines/internal/fleet/coordinator"
	"sixnines/internal/fleet/wire"
	"sixnines/internal/spell"
)

// embedded is what stands for the address of the control plane that a coordinator of this user runs itself.
const embedded = "embedded"

// fleetLogin is how a command reaches the control plane of a fleet: its flags.
type fleetLogin struct {
	address string // the name of the flag of the address
	prefix  string // of the names of the others
	login   wire.Login
	token   string      // file
	own     *wire.Login // of the control plane that this command has started; nil: none
}

// flags adds the flag of the address, called address, and those of the login, whose names begin with prefix.
func (l *fleetLogin) flags(f *pflag.FlagSet, address, prefix, about string) {
	l.address, l.prefix = address, prefix
	f.StringVar(&l.login.URL, address, "", about)
	f.StringVar(&l.token, prefix+"token-file", "", "`FILE` with the token of the control plane; default: the variable "+wire.TokenVariable)
	f.StringVar(&l.login.Creds, prefix+"creds", "", "`FILE` with a NATS user's JWT and seed")
	f.StringVar(&l.login.NKey, prefix+"nkey", "", "`FILE` with a NATS user's seed")
	f.StringVar(&l.login.CA, prefix+"tls-ca", "", "PEM `FILE` of the CA that signed the control plane's certificate; default: the system's")
	f.StringVar(&l.login.Cert, prefix+"tls-cert", "", "PEM `FILE` of a client certificate")
	f.StringVar(&l.login.Key, prefix+"tls-key", "", "PEM `FILE` of its key")
	f.StringVar(&l.login.Pin, prefix+"pin", "", "`SHA256` of the certificate of a control plane that sixnines starts, instead of a CA")
}

// given returns the login that the flags and the environment say, with paths of this process.
func (l *fleetLogin) given(env *Env) (wire.Login, error) {
	w := l.login
	if l.own != nil {
		return *l.own, nil
	}
	if w.URL == embedded {
		dir, err := env.controlDir()
		if err != nil {
			return w, err
		}
		if w, err = control.Running(dir); err != nil {
			return w, failed("it runs as long as the command with --fleet embedded; name another one with --"+l.address+" URL", err)
		}
		return w, nil
	}
	switch {
	case l.token != "":
		text, err := os.ReadFile(env.path(l.token))
		if err != nil {
			return w, failed(fileHint(err), fmt.Errorf("read the token: %w", err))
		}
		if w.Token = strings.TrimSpace(string(text)); w.Token == "" {
			return w, wrongUsage("write the token into it", "the file %s has no token", l.token)
		}
	case w.Creds == "" && w.NKey == "":
		w.Token = strings.TrimSpace(env.getenv(wire.TokenVariable))
	}
	for _, file := range []*string{&w.Creds, &w.NKey, &w.CA, &w.Cert, &w.Key} {
		if *file != "" {
			*file = env.path(*file)
		}
	}
	if err := w.Check(); err != nil {
		return w, l.fault(err)
	}
	return w, nil
}

// named takes the address from the environment if no flag has it. Without either it is an error.
func (l *fleetLogin) named(env *Env) error {
	if l.login.URL == "" {
		l.login.URL = env.getenv(wire.AddressVariable)
	}
	if l.login.URL == "" {
		return wrongUsage("name it with --"+l.address+" URL, or set "+wire.AddressVariable, "the control plane is not named")
	}
	return nil
}

// connect connects to the control plane, which must answer within a time. waiting, if not nil, is called if it does not
// answer at once.
func (l *fleetLogin) connect(ctx context.Context, env *Env, name string, within time.Duration, waiting func(error)) (*wire.Conn, error) {
	w, err := l.given(env)
	if err != nil {
		return nil, err
	}
	w.Name = "sixnines " + name
	ctx, cancel := context.WithTimeoutCause(ctx, within, fmt.Errorf("waited %s: %w", spell.Period(within), context.DeadlineExceeded))
	defer cancel()
	nc, err := wire.Connect(ctx, w, waiting, nil)
	if err != nil {
		return nil, l.fault(err)
	}
	return nc, nil
}

// controlPatience is how long a command waits for the control plane to answer.
const controlPatience = 15 * time.Second

// fault says what to do about an error of the fleet: a login that is refused, or cannot be used as it is, is wrong usage.
func (l *fleetLogin) fault(err error) error {
	usage := func(hint string) error { return &fault{exitUsage, err, hint} }
	flag := func(name string) string { return "--" + l.prefix + name }
	var (
		own   *fault
		skew  *wire.Skew
		under *control.Under
	)
	switch wire.Why(err) {
	case wire.Expired:
		return usage("have new credentials made, and name their file with " + flag("creds"))
	case wire.Unusable:
		return usage("correct --" + l.address + " and the flags of the login")
	case wire.Unknown:
		return usage("check the token (" + wire.TokenVariable + " or " + flag("token-file") + "), " + flag("creds") + " or " + flag("nkey"))
	case wire.Untrusted:
		return usage("check " + flag("tls-ca") + " or " + flag("pin") + ", and that the address begins with tls:// if, and only if, the server uses TLS")
	}
	switch {
	case errors.As(err, &own):
		return own
	case errors.As(err, &skew):
		return usage("sixnines version says which one a machine has; end the agents of the other version")
	case errors.Is(err, agent.ErrTwice), errors.Is(err, coordinator.ErrTwice):
		return usage("sixnines fleet list shows the agents that are there")
	case errors.As(err, &under):
		return usage("use another server as the control plane, or allow it with --fleet-shared")
	case errors.Is(err, errEnded), errors.Is(err, context.Canceled):
		return failed("run the command again", err)
	}
	return failed("check --"+l.address+", and that the control plane runs and is reachable from here", err)
}

// controlDir is the directory of the control plane that this user's coordinators run.
func (env *Env) controlDir() (string, error) {
	h, err := env.home()
	if err != nil {
		return "", err
	}
	return h.Path("fleet", "control"), nil
}

package cli

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io/fs"
	"net"
	"strings"
	"syscall"
	"time"

	"sixnines/driver"
	"sixnines/internal/engine"
	"sixnines/scenario"
)

// runFault says what to do about the error that ended a run.
func runFault(err error, s *scenario.Scenario, e driver.Entry, managed bool) error {
	show := "sixnines drivers show " + e.Name
	usage := func(hint string) error { return &fault{exitUsage, err, hint} }
	if errors.As(err, new(*fault)) {
		return err // of a fleet, which says itself what to do
	}
	var (
		authority x509.UnknownAuthorityError
		hostname  x509.HostnameError
		invalid   x509.CertificateInvalidError
		verify    *tls.CertificateVerificationError
		record    tls.RecordHeaderError
	)
	var limit *driver.LimitError
	var handshake *driver.HandshakeError
	var advertised *driver.AdvertisedError
	var option *driver.OptionError
	switch {
	case errors.As(err, &option):
		if _, given := s.Target.Options[option.Option]; given {
			err = wrongOption(s, option)
		}
		return usage(show + " lists the options and their values")
	case errors.Is(err, engine.ErrUsage):
		return usage("change the scenario; " + show + " lists what the driver can do")
	case errors.Is(err, driver.ErrOption):
		return usage(show + " lists the options and their values")
	case errors.Is(err, engine.ErrAborted):
		return failed("the result has everything measured until then; after a single Ctrl-C the run also waits for the last messages", err)
	case errors.As(err, &authority):
		return failed("give the CA that signed the server's certificate with --tls-ca FILE", err)
	case errors.As(err, &hostname):
		return failed("use the host name of the certificate in --url or with --tls-server-name", err)
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return failed(validityHint(invalid.Cert), err)
	case errors.As(err, &verify):
		return failed("check --tls-ca and --tls-server-name; --tls-insecure accepts any certificate", err)
	case errors.As(err, &record):
		return failed("this port does not speak TLS: "+without(s)+", or give the port of its TLS listener in --url", err)
	case alerted(err) && s.Target.TLS != nil && s.Target.TLS.Cert == "":
		return failed("the server ended the handshake: if it "+wantsCertificate, err)
	case alerted(err):
		return failed("the server ended the handshake: check --tls-cert and --tls-key, and that the server trusts the CA of that certificate", err)
	case errors.Is(err, driver.ErrForbidden):
		return failed(rightsHint(e, s, show), err)
	case errors.Is(err, driver.ErrUnauthorized):
		return failed(loginHint(e, show), err)
	case errors.As(err, &limit):
		return failed("lower "+limit.Lower+", or raise the broker's limit for this account", err)
	case errors.Is(err, driver.ErrRejected):
		return failed("the broker was reached and refused: see its message, or its log", err)
	case errors.Is(err, driver.ErrTooLarge):
		return failed("lower --size, or raise the broker's limit", err)
	case errors.Is(err, driver.ErrUnsupported):
		return failed(show+" lists what the driver can do", err)
	case errors.Is(err, driver.ErrThrottled):
		return failed("lower --rate, or raise the broker's limits", err)
	case errors.Is(err, driver.ErrNoTopic):
		return failed("create the topic at the broker, or allow this user to create it", err)
	case errors.As(err, &advertised):
		return failed("the address in --url is right: set the broker's "+advertised.Setting+" to addresses that are reachable from here", err)
	case errors.Is(err, syscall.EMFILE):
		return failed("each connection takes a file descriptor: raise the limit with ulimit -n 65536 in this shell, or use fewer connections", err)
	case errors.As(err, &handshake):
		hint := "the server was reached and ended the handshake: if it does not encrypt at this port, " + without(s)
		if s.Target.TLS == nil || s.Target.TLS.Cert == "" {
			hint += "; if it " + wantsCertificate
		}
		return failed(hint, err)
	case errors.Is(err, driver.ErrNotConnected) && managed:
		return failed("the broker that sixnines started has ended or does not answer: try again, or give another with --url", err)
	case errors.Is(err, driver.ErrNotConnected):
		hint := "check --url, and that the broker runs and is reachable from here"
		switch {
		case s.Target.TLS != nil:
			hint += "; if the broker does not use TLS, leave the --tls flags out"
			// The alert that would say so is lost if the client writes before it reads.
			if s.Target.TLS.Cert == "" {
				hint += "; if it " + wantsCertificate
			}
		case e.Capabilities.TLS && somebodyListens(err):
			hint += wantsTLS
		case managedName(e) != "":
			hint += "; without --url sixnines starts a broker itself"
		}
		return failed(hint, err)
	case errors.Is(err, driver.ErrTimeout), errors.Is(err, context.DeadlineExceeded):
		hint := "the broker did not answer in time: check --url and how busy the broker is"
		if e.Capabilities.TLS && s.Target.TLS == nil && !managed {
			hint += wantsTLS
		}
		return failed(hint, err)
	case errors.Is(err, fs.ErrExist), errors.Is(err, fs.ErrPermission), errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOSPC):
		return failed(fileHint(err), err)
	}
	return failed("check this machine with sixnines doctor, and see the broker's log", err)
}

// without says how not to encrypt.
func without(s *scenario.Scenario) string {
	if s.Target.TLS != nil {
		return "leave the --tls flags out"
	}
	return "use the scheme without TLS"
}

// validityHint says when a certificate is valid that is not valid now.
func validityHint(c *x509.Certificate) string {
	const day = "2006-01-02 15:04 MST"
	if c != nil && time.Now().Before(c.NotBefore) {
		return "the server's certificate is not valid yet, but from " + c.NotBefore.Format(day) + " on: check this machine's clock (date), or have the broker show another"
	}
	since := ""
	if c != nil {
		since = " on " + c.NotAfter.Format(day)
	}
	return "the server's certificate has expired" + since + ": have it renewed at the broker, or check this machine's clock (date)"
}

const wantsTLS = "; if it requires TLS, give its CA with --tls-ca FILE"

// alerted reports whether the other side has ended a TLS handshake with an alert. It
// checks the operation of the network error, since crypto/tls does not export the type
// of the alert.
func alerted(err error) bool {
	var from *net.OpError
	return errors.As(err, &from) && from.Op == "remote error"
}

const wantsCertificate = "requires a client certificate, give one with --tls-cert FILE and --tls-key FILE"

// somebodyListens reports whether connecting failed for another reason than that no
// server listens.
func somebodyListens(err error) bool {
	var name *net.DNSError
	return !errors.As(err, &name) && !errors.Is(err, syscall.ECONNREFUSED) && !errors.Is(err, syscall.EHOSTUNREACH) &&
		!errors.Is(err, syscall.ENETUNREACH) && !strings.Contains(err.Error(), syscall.ECONNREFUSED.Error()) // some clients wrap nothing
}

// loginHint says how to log in.
func loginHint(e driver.Entry, show string) string {
	if ways := loginWays(e); ways != "" {
		return "give the login of a user of the broker: " + ways + "; see " + show
	}
	return "see " + show + " for the options that log in"
}

// rightsHint says which rights the account needs. It may be that of clients without a login.
func rightsHint(e driver.Entry, s *scenario.Scenario, show string) string {
	hint := "see docs/brokers for what the account needs"
	if e.Rights != nil {
		hint = show + " --permissions"
		if s.Target.Prefix != "" {
			hint += " --prefix " + s.Target.Prefix
		}
		hint += " lists what the account needs"
	}
	if s.Target.Prefix == "" && e.Naming.Separator != "" {
		hint += "; with --prefix all names begin as it allows"
	}
	if ways := loginWays(e); ways != "" {
		hint += "; to log in as another: " + ways
	}
	return hint
}

// loginWays lists the options by which the driver logs in; empty if it has none.
func loginWays(e driver.Entry) string {
	var ways []string
	for _, name := range loginOptions(e) {
		value := "…"
		if e.Secret(name) {
			value = "env:NAME"
		}
		ways = append(ways, "--option "+name+"="+value)
	}
	return strings.Join(ways, ", ")
}

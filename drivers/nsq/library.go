package nsq

import (
	"context"
	"fmt"
	"time"

	"github.com/nsqio/go-nsq"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// What go-nsq takes as its LookupdPollInterval: a consumer without nsqlookupd waits
// for so long before each attempt to reconnect.
const (
	leastPoll = 10 * time.Millisecond
	mostPoll  = 5 * time.Minute
)

// libraryConfig sets go-nsq for a connection: it gives up no message and waits for
// nsqd as long as the driver's own client does.
func (s *session) libraryConfig(key kit.Key) *nsq.Config {
	o, c := &s.options, nsq.NewConfig()
	c.ClientID = s.clientName(key)
	c.Hostname = c.ClientID
	c.DialTimeout = o.ConnectTimeout
	c.HeartbeatInterval = o.HeartbeatInterval
	c.ReadTimeout, c.WriteTimeout = 2*o.HeartbeatInterval, 2*o.HeartbeatInterval
	c.LookupdPollInterval = o.ReconnectWait
	c.MaxAttempts = 0        // no limit
	c.MaxBackoffDuration = 0 // none
	size, timeout := o.outputBuffer(s.Target.Batch)
	c.OutputBufferSize, c.OutputBufferTimeout = int64(size), timeout
	c.MsgTimeout, c.SampleRate = o.MsgTimeout, int32(o.SampleRate)
	c.TlsV1, c.TlsConfig = s.TLS != nil, s.TLS
	c.Deflate, c.DeflateLevel, c.Snappy = o.Deflate, o.DeflateLevel, o.Snappy
	c.AuthSecret = o.AuthSecret
	return c
}

// suits returns an error where go-nsq cannot do what the session is to do.
func (s *session) suits() error {
	if s.options.library() && s.TLS != nil && !s.TLS.InsecureSkipVerify && s.TLS.ServerName != "" && s.TLS.ServerName != s.server().Host {
		return fmt.Errorf("nsq: the server's name %q: %w: go-nsq wants a certificate for the address's, %q; set option client to direct", s.TLS.ServerName, driver.ErrUnsupported, s.server().Host)
	}
	return nil
}

// await runs f, which knows no context, and returns when f has, ctx has ended or the
// session closes. If it returns an error, undo is called on another goroutine when
// f has returned.
func (s *session) await(ctx context.Context, f func() error, undo func()) error {
	came := make(chan error, 1)
	go func() { came <- f() }()
	select {
	case err := <-came:
		if err != nil {
			go undo()
		}
		return err
	case <-ctx.Done():
		go func() { <-came; undo() }()
		return fmt.Errorf("%w: %w", driver.ErrNotConnected, context.Cause(ctx))
	case <-s.Life.Done():
		go func() { <-came; undo() }()
		return driver.ErrClosed
	}
}

// journal is where go-nsq writes its log. It is the only place where go-nsq tells of
// connections that are lost.
type journal func(text string)

// Output implements go-nsq's logger.
func (j journal) Output(_ int, text string) error {
	j(text)
	return nil
}

// What go-nsq 1.1.0 writes to its log at level info or above.
const (
	logBroken   = "IO error - "                 // why a connection breaks follows
	logRefused  = "protocol error - "           // what nsqd says follows
	logFailed   = "error connecting to nsqd - " // why a consumer has no new connection follows
	logUnrouted = "exiting router"              // a producer's connection has ended, and each of its transactions has a result
	logDelayed  = "delaying close"              // a consumer's connection is lost, and waits until the last of its messages has an answer
	logClosing  = "beginning close"             // each message of a consumer's connection has an answer
	logLost     = "connections left alive"      // a consumer's connection has ended
)

// emit reports what happened to one of go-nsq's connections, and the error that it is
// about, if there is one.
func (s *session) emit(kind driver.EventKind, key kit.Key, detail string, err error) {
	text := key.String()
	if detail != "" {
		text += ": " + detail
	}
	s.Target.Notify(driver.Event{Kind: kind, Detail: text, Err: err})
}

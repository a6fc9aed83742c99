package jetstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	js "github.com/nats-io/nats.go/jetstream"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
	"sixnines/drivers/internal/natswire"
)

// api asks a server to manage streams and consumers. It is safe for concurrent
// use.
type api struct {
	link    *natswire.Link
	prefix  string
	timeout time.Duration
}

// refusal is an error in an answer of the API, or to a publish.
type refusal struct {
	Code        int    `json:"code"`
	ErrCode     int    `json:"err_code"`
	Description string `json:"description"`
}

// Some of the server's numbers of errors.
const (
	codeNoConsumer      = 10014
	codeNoMessage       = 10037
	codeCreate          = 10012
	codeNoStream        = 10059
	codeNotCreated      = 10049
	codeTooLarge        = 10054
	codeNotEnabled      = 10076
	codeAccountHasNot   = 10039
	codeNoCluster       = 10074
	codeFewServers      = 10005
	codeIncomplete      = 10004
	codeNotAvailable    = 10008
	codeNotLeader       = 10009
	codeStreamOffline   = 10118
	codeConsumerOffline = 10119
	// Limits of the account or the server.
	codeAccountResources = 10002
	codeResources        = 10023
	codeConsumers        = 10026
	codeStreams          = 10027
	codeMemory           = 10028
	codeStorage          = 10047
	codeStreamBytes      = 10122
	codeManyRequests     = 429 // an HTTP-like code
)

// Error implements error.
func (r *refusal) Error() string { return fmt.Sprintf("%s (%d)", r.Description, r.ErrCode) }

// Unwrap returns the refusal's class.
func (r *refusal) Unwrap() error {
	switch {
	case r.ErrCode == codeNoStream:
		return driver.ErrNoTopic
	case r.ErrCode == codeTooLarge:
		return driver.ErrTooLarge
	case r.ErrCode == codeNotEnabled || r.ErrCode == codeAccountHasNot || r.ErrCode == codeNoCluster || r.ErrCode == codeFewServers:
		return driver.ErrUnsupported
	case r.Code == codeManyRequests:
		return driver.ErrThrottled
	}
	return driver.ErrRejected
}

// refused reports whether err is the server's refusal with that number.
func refused(err error, number int) bool {
	var r *refusal
	return errors.As(err, &r) && r.ErrCode == number
}

// limited says which option or flag asks for more than the account or the server allows.
func limited(err error) error {
	var r *refusal
	if !errors.As(err, &r) {
		return err
	}
	lower := ""
	switch r.ErrCode {
	case codeStorage, codeMemory, codeResources, codeAccountResources, codeStreamBytes:
		lower = "--option max_bytes (for all streams together)"
	case codeStreams:
		lower = "--topics (each is a stream)"
	case codeConsumers:
		lower = "--consumers (each is one there, unless they are a group)"
	default:
		return err
	}
	return &driver.LimitError{Lower: lower, Cause: err}
}

// unchangeable reports whether err says that there is a consumer of the name with
// other settings, which cannot become those asked for.
func unchangeable(err error) bool {
	return refused(err, codeCreate) && strings.Contains(err.Error(), "can not be updated")
}

// request sends q, unless it is nil, to the API's subject and reads the answer
// into a, unless that is.
func (p *api) request(ctx context.Context, subject string, q, a any) error {
	var body []byte // the server refuses one where it wants none
	if q != nil {
		var err error
		if body, err = json.Marshal(q); err != nil {
			return err
		}
	}
	asking, done := p.link.Ask(ctx, p.prefix+subject)
	defer done()
	limited, cancel := context.WithTimeout(asking, p.timeout)
	defer cancel()
	m, err := p.link.Conn().RequestWithContext(limited, p.prefix+subject, body)
	switch {
	case errors.Is(err, nats.ErrNoResponders):
		return fmt.Errorf("%w: no answer from %s%s: %w", driver.ErrUnsupported, p.prefix, subject, errAbsent)
	case err != nil && ctx.Err() != nil:
		return fmt.Errorf("%w: %w", driver.ErrTimeout, context.Cause(ctx))
	case err != nil && asking.Err() != nil:
		return context.Cause(asking)
	case err != nil && limited.Err() != nil:
		return fmt.Errorf("%w: no answer in %v", driver.ErrTimeout, p.timeout)
	case err != nil && p.link.Closing():
		return driver.ErrClosed
	case err != nil:
		return err
	}
	var answer struct {
		Error *refusal `json:"error"`
	}
	if err := json.Unmarshal(m.Data, &answer); err != nil {
		return fmt.Errorf("the server answers %.80q: %w: %w", m.Data, driver.ErrUnsupported, err)
	}
	if answer.Error != nil {
		return answer.Error
	}
	if a == nil {
		return nil
	}
	return json.Unmarshal(m.Data, a)
}

// errAbsent tells what to do about a server without JetStream.
var errAbsent = errors.New("JetStream is not enabled, or not for this account; start the server with -js, or name another domain or api_prefix")

// available returns an error unless the account has JetStream.
func (p *api) available(ctx context.Context) error {
	err := kit.Await(ctx, "wait for an answer", passes, func() error { return p.request(ctx, "INFO", nil, nil) })
	if err != nil && (refused(err, codeNotEnabled) || refused(err, codeAccountHasNot)) {
		err = fmt.Errorf("%w: %w", err, errAbsent)
	}
	if err != nil {
		return wrap(err, "ask for JetStream")
	}
	return nil
}

// passes reports whether an error is temporary: no leader has been elected yet, so that
// nothing answers, or a server is not ready. After an account's last stream is removed,
// nats-server (2.15.2) removes the directory of all streams in a separate goroutine, which
// may collide with the creation of the next stream.
func passes(err error) bool {
	var r *refusal
	if errors.As(err, &r) {
		switch r.ErrCode {
		case codeNotCreated, codeIncomplete, codeNotAvailable, codeNotLeader, codeStreamOffline, codeConsumerOffline:
			return true
		}
		return false
	}
	return errors.Is(err, driver.ErrTimeout)
}

// createStream returns the stream's settings in effect.
func (p *api) createStream(ctx context.Context, c js.StreamConfig) (js.StreamInfo, error) {
	var info js.StreamInfo
	if err := p.request(ctx, "STREAM.CREATE."+c.Name, c, &info); err != nil {
		if c.Replicas > 1 && errors.Is(err, driver.ErrUnsupported) {
			err = fmt.Errorf("%w; %d replicas need a cluster of as many servers with JetStream: lower option replicas", err, c.Replicas)
		}
		return info, wrap(limited(err), "create stream %s", c.Name)
	}
	return info, nil
}

// deleteStream deletes a stream, if there is one.
func (p *api) deleteStream(ctx context.Context, name string) error {
	err := p.request(ctx, "STREAM.DELETE."+name, nil, nil)
	if err != nil && !refused(err, codeNoStream) {
		return wrap(err, "delete stream %s", name)
	}
	return nil
}

// deleteStreams deletes all of them, as far as it can.
func (p *api) deleteStreams(ctx context.Context, streams []stream) error {
	var errs []error
	for _, st := range streams {
		errs = append(errs, driver.LeaveAll(p.deleteStream(ctx, st.name), "stream", []string{st.name})...)
	}
	return errors.Join(errs...)
}

// streamInfo returns the stream as it is now; ok is false if it does not exist.
func (p *api) streamInfo(ctx context.Context, name string) (info js.StreamInfo, ok bool, err error) {
	err = p.request(ctx, "STREAM.INFO."+name, nil, &info)
	if err != nil && !refused(err, codeNoStream) {
		return info, false, wrap(err, "look for stream %s", name)
	}
	return info, err == nil, nil
}

// createConsumer makes a consumer called c.Name, or returns the one there is.
func (p *api) createConsumer(ctx context.Context, stream string, c js.ConsumerConfig) (js.ConsumerInfo, error) {
	q := struct {
		Stream string            `json:"stream_name"`
		Config js.ConsumerConfig `json:"config"`
	}{stream, c}
	var info js.ConsumerInfo
	if err := p.request(ctx, "CONSUMER.CREATE."+stream+"."+c.Name, q, &info); err != nil {
		return info, wrap(limited(err), "create consumer %s of stream %s", c.Name, stream)
	}
	return info, nil
}

// deleteConsumer deletes a consumer, if there is one.
func (p *api) deleteConsumer(ctx context.Context, stream, name string) error {
	err := p.request(ctx, "CONSUMER.DELETE."+stream+"."+name, nil, nil)
	if err != nil && !refused(err, codeNoStream) && !refused(err, codeNoConsumer) {
		return wrap(err, "delete consumer %s of stream %s", name, stream)
	}
	return nil
}

// consumerInfo returns a consumer as it is now.
func (p *api) consumerInfo(ctx context.Context, stream, name string) (js.ConsumerInfo, error) {
	var info js.ConsumerInfo
	if err := p.request(ctx, "CONSUMER.INFO."+stream+"."+name, nil, &info); err != nil {
		return info, wrap(err, "look at consumer %s of stream %s", name, stream)
	}
	return info, nil
}

// hasConsumer reports whether there is such a consumer.
func (p *api) hasConsumer(ctx context.Context, stream, name string) (bool, error) {
	err := p.request(ctx, "CONSUMER.INFO."+stream+"."+name, nil, nil)
	if err != nil && !refused(err, codeNoStream) && !refused(err, codeNoConsumer) {
		return false, wrap(err, "look for consumer %s of stream %s", name, stream)
	}
	return err == nil, nil
}

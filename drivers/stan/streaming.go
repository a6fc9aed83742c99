package stan

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	client "github.com/nats-io/stan.go"
	"github.com/nats-io/stan.go/pb"

	"sixnines/driver"
	"sixnines/drivers/internal/natswire"
)

// streaming is one registration with the streaming server over one connection
// of nats.go, from the connect request until either is lost. It is never
// repaired: a link makes another.
type streaming struct {
	session *session
	dialer  *natswire.Dialer
	nc      *nats.Conn
	key     linkKey
	id      string // the client's, at the server
	connID  []byte
	info    pb.ConnectResponse
	acks    string // where the server answers publishes
	waiting *pending
	sender  client.Conn // publishes, instead of us; nil: we do

	unanswered atomic.Int32 // pings
	over       sync.Once
	lost       chan struct{} // closed when the registration is of no use any more
	why        error         // set before lost is closed

	mu      sync.Mutex
	refused error // what the NATS server has refused last
}

// message is what the protocol's requests and answers have in common.
type message interface {
	Marshal() ([]byte, error)
	Unmarshal([]byte) error
}

// register connects and registers the client. It ends with an error when ctx or
// life does.
func register(ctx, life context.Context, s *session, key linkKey) (*streaming, error) {
	st := &streaming{session: s, key: key, id: s.clientID(key), connID: []byte(rand.Text()),
		waiting: newPending(s.options.MaxPubAcksInflight), lost: make(chan struct{}),
		dialer: natswire.NewDialer(life, s.target.Dial, s.options.ConnectTimeout)}
	stopCtx := context.AfterFunc(ctx, st.dialer.Kill)
	stopLife := context.AfterFunc(life, st.dialer.Kill)
	err := st.connect()
	if err == nil {
		err = st.introduce(ctx)
	}
	inTime := stopCtx()
	stopLife()
	if err == nil && !inTime {
		err = context.Cause(ctx)
	}
	if err == nil {
		return st, nil
	}
	if st.nc != nil {
		st.nc.Close()
	}
	st.dialer.Kill()
	return nil, st.connectError(ctx, life, err)
}

func (st *streaming) connect() (err error) {
	s := st.session
	o := nats.GetDefaultOptions()
	first := st.key.conn % len(s.servers)
	o.Servers = append(append([]string(nil), s.servers[first:]...), s.servers[:first]...)
	o.NoRandomize = true
	o.IgnoreDiscoveredServers = true
	o.Name = st.id
	o.CustomDialer = st.dialer
	o.SkipHostLookup = true // the dialer looks names up, and stops when told to
	o.Timeout = s.options.ConnectTimeout
	o.AllowReconnect = false // with the connection, acknowledgements were lost
	o.WriteBufferSize = s.writeBuffer
	o.FlusherTimeout = 0
	o.SkipSubjectValidation = true // subjects are checked once, when they are made
	o.ClosedCB = func(nc *nats.Conn) { st.lose(nc.LastError()) }
	o.AsyncErrorCB = st.failed
	if s.tls != nil {
		o.Secure, o.TLSConfig = true, s.tls
	}
	if err = s.options.authentication()(&o); err != nil {
		return err
	}
	st.nc, err = o.Connect()
	return err
}

// introduce registers the client with the streaming server.
func (st *streaming) introduce(ctx context.Context) error {
	o := st.session.options
	if o.Publish == byClient && st.key.role == roleProducer {
		return st.introduceClient(ctx)
	}
	beats, pings := nats.NewInbox(), nats.NewInbox()
	st.acks = client.DefaultACKPrefix + "." + rand.Text()
	for _, sub := range []struct {
		subject string
		handle  nats.MsgHandler
	}{
		{beats, func(m *nats.Msg) { st.nc.Publish(m.Reply, nil) }},
		{pings, st.answered},
		{st.acks, st.acknowledged},
	} {
		subscription, err := st.nc.Subscribe(sub.subject, sub.handle)
		if err != nil {
			return err
		}
		if err := subscription.SetPendingLimits(-1, -1); err != nil {
			return err
		}
	}
	request := &pb.ConnectRequest{ClientID: st.id, HeartbeatInbox: beats, ConnID: st.connID, Protocol: 1,
		PingInterval: int32(o.PingInterval / time.Second), PingMaxOut: int32(o.MaxPingsOut)}
	if err := st.request(ctx, st.discovery(), request, &st.info); err != nil {
		return err
	}
	if err := refusal(st.info.Error); err != nil {
		return err
	}
	if st.info.Protocol >= 1 && st.info.PingInterval > 0 {
		go st.ping(pings)
	}
	return nil
}

// introduceClient lets stan.go do it.
func (st *streaming) introduceClient(ctx context.Context) error {
	o := st.session.options
	connected := make(chan error, 1)
	go func() {
		var err error
		st.sender, err = client.Connect(o.ClusterID, st.id, client.NatsConn(st.nc), client.ConnectWait(o.ConnectTimeout),
			client.PubAckWait(o.AckTimeout), client.MaxPubAcksInflight(o.MaxPubAcksInflight),
			client.Pings(int(o.PingInterval/time.Second), o.MaxPingsOut),
			client.SetConnectionLostHandler(func(_ client.Conn, err error) { st.lose(err) }))
		connected <- err
	}()
	select {
	case err := <-connected:
		if errors.Is(err, client.ErrConnectReqTimeout) { // its word for no answer, too
			return st.nobody()
		}
		return err
	case <-ctx.Done():
		st.nc.Close() // what the client is waiting for does not come any more
		<-connected
		return context.Cause(ctx)
	}
}

func (st *streaming) discovery() string {
	return client.DefaultDiscoverPrefix + "." + st.session.options.ClusterID
}

// nobody is the error of a NATS server behind which no streaming server answers.
func (st *streaming) nobody() error {
	return fmt.Errorf("%w: %w; check option cluster_id, which is %q, and that it is a NATS Streaming server",
		driver.ErrNotConnected, errNobody, st.session.options.ClusterID)
}

// connectError says why there is no registration.
func (st *streaming) connectError(ctx, life context.Context, err error) error {
	to := natswire.Redact(st.session.servers)
	st.mu.Lock()
	refused := st.refused
	st.mu.Unlock()
	switch {
	case life.Err() != nil:
		return fmt.Errorf("stan: connect to %s: %w", to, driver.ErrClosed)
	case ctx.Err() != nil:
		return fmt.Errorf("stan: connect to %s: %w: %w", to, driver.ErrNotConnected, context.Cause(ctx))
	case refused != nil:
		return fmt.Errorf("stan: register with %s: %w: %w", to, driver.ErrUnauthorized, refused)
	case errors.Is(err, nats.ErrNoServers) && st.dialer.LastError() != nil:
		err = st.dialer.LastError()
	}
	if c := classOf(err); c == driver.ErrUnauthorized {
		return fmt.Errorf("stan: log in to %s: %w: %w", to, c, err)
	}
	if driver.Class(err) != nil {
		return fmt.Errorf("stan: connect to %s: %w", to, err)
	}
	return fmt.Errorf("stan: connect to %s: %w: %w", to, driver.ErrNotConnected, err)
}

// request asks the streaming server, and waits for its answer until ctx ends or
// connect_timeout is over.
func (st *streaming) request(ctx context.Context, subject string, question, answer message) error {
	raw, err := question.Marshal()
	if err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, st.session.options.ConnectTimeout)
	type reply struct {
		m   *nats.Msg
		err error
	}
	got := make(chan reply, 1)
	go func() { // writing does not look at the context
		defer cancel()
		m, err := st.nc.RequestWithContext(limited, subject, raw)
		got <- reply{m, err}
	}()
	select {
	case r := <-got:
		switch {
		case errors.Is(r.err, nats.ErrNoResponders):
			return st.nobody()
		case errors.Is(r.err, context.DeadlineExceeded) && ctx.Err() == nil:
			return fmt.Errorf("%w: no answer from the streaming server in %v", driver.ErrTimeout, st.session.options.ConnectTimeout)
		case r.err != nil:
			return r.err
		}
		return answer.Unmarshal(r.m.Data)
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-st.lost:
		cancel()
		return fmt.Errorf("%w: %w", driver.ErrNotConnected, st.why)
	}
}

// lose ends the registration: what is without an acknowledgement will not get
// one. Only the first call counts.
func (st *streaming) lose(err error) {
	st.over.Do(func() {
		if err == nil {
			err = nats.ErrConnectionClosed
		}
		st.why = err
		close(st.lost)
	})
}

// ping asks the server, once an interval, whether it still knows the client: a
// streaming server may go while the NATS server stays.
func (st *streaming) ping(inbox string) {
	raw, err := (&pb.Ping{ConnID: st.connID}).Marshal()
	if err != nil {
		st.lose(err)
		return
	}
	interval := time.NewTicker(time.Duration(st.info.PingInterval) * time.Second)
	defer interval.Stop()
	for {
		select {
		case <-st.lost:
			return
		case <-interval.C:
		}
		if st.unanswered.Add(1) > st.info.PingMaxOut {
			st.lose(client.ErrMaxPings)
			return
		}
		if err := st.nc.PublishRequest(st.info.PingRequests, inbox, raw); err != nil {
			st.lose(err)
			return
		}
	}
}

// answered takes the answer to a ping.
func (st *streaming) answered(m *nats.Msg) {
	if len(m.Data) == 0 {
		if m.Header.Get("Status") == "" { // else there is nobody to answer
			st.unanswered.Store(0)
		}
		return
	}
	var response pb.PingResponse
	if err := response.Unmarshal(m.Data); err == nil && response.Error != "" {
		st.lose(refusal(response.Error))
	}
}

// acknowledged takes the server's answer to a publish.
func (st *streaming) acknowledged(m *nats.Msg) {
	if !st.waiting.acknowledged(m.Data) {
		st.session.notify(driver.Event{Kind: driver.AsyncError, Detail: fmt.Sprintf("%s: an acknowledgement that cannot be read: %.80q", st.key, m.Data)})
	}
}

// failed takes what nats.go reports of its own accord.
func (st *streaming) failed(_ *nats.Conn, _ *nats.Subscription, err error) {
	if errors.Is(err, nats.ErrPermissionViolation) {
		st.mu.Lock()
		st.refused = err
		st.mu.Unlock()
	}
	st.session.notify(driver.Event{Kind: driver.AsyncError, Detail: st.key.String() + ": " + err.Error()})
}

// permission returns what the NATS server has refused, instead of err, which is
// then only its consequence.
func (st *streaming) permission(err error) error {
	st.mu.Lock()
	defer st.mu.Unlock()
	if err != nil && st.refused != nil {
		return fmt.Errorf("%w: %w", driver.ErrUnauthorized, st.refused)
	}
	return err
}

// leave takes leave of the server, if that can be done, and closes the
// connection by ctx's deadline.
func (st *streaming) leave(ctx context.Context) {
	grace := 2 * time.Second
	if deadline, ok := ctx.Deadline(); ok {
		grace = time.Until(deadline) * 3 / 4
	}
	polite, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	select {
	case <-st.lost:
	default:
		st.farewell(polite)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		st.nc.Close()
	}()
	select {
	case <-done:
	case <-polite.Done():
	}
	st.dialer.Kill()
	select {
	case <-done:
	case <-ctx.Done():
	}
}

func (st *streaming) farewell(ctx context.Context) {
	if st.sender != nil {
		done := make(chan struct{})
		go func() { // ends with the connection at the latest
			defer close(done)
			st.sender.Close()
		}()
		select {
		case <-done:
		case <-ctx.Done():
		}
		return
	}
	var response pb.CloseResponse
	// An error leaves it to the server to notice.
	_ = st.request(ctx, st.info.CloseRequests, &pb.CloseRequest{ClientID: st.id}, &response)
}

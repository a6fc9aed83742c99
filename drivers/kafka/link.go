package kafka

import (
	"context"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kversion"

	"sixnines/drivers/internal/kit"
)

// idle is how long a connection may be silent until the client closes it: less
// than the broker's ten minutes, more than any pause of a paced load.
const idle = 9 * time.Minute

// link is a client with its connections.
type link struct {
	client  *kgo.Client
	dialer  *dialer
	closing atomic.Bool
	shut    sync.Once
	ended   chan struct{} // closed when the client has
}

// connect makes a client; it does not reach for the broker yet. Its connections have the values of ctx.
func (s *session) connect(ctx context.Context, key kit.Key, more ...kgo.Opt) (*link, error) {
	d := &dialer{session: s, key: key, maker: ctx, logins: s.loginsOf(key), seeds: len(s.Servers), conns: map[*conn]struct{}{}, lost: map[string]bool{}}
	o := &s.options
	options := []kgo.Opt{
		kgo.SeedBrokers(strings.Split(s.Address.String(), ",")...),
		kgo.ClientID(s.Target.Prefix + "sixnines-" + s.Target.Run + "-" + key.String()),
		kgo.SoftwareNameAndVersion("sixnines", kit.LibraryVersion(franz)),
		kgo.Dialer(d.dial),
		kgo.WithHooks(d),
		kgo.RequestTimeoutOverhead(min(o.RequestTimeout, 10*time.Second)),
		kgo.ConnIdleTimeout(idle),
		// Who has lost a broker looks for its heir at once, and not after the
		// client's five seconds.
		kgo.MetadataMinAge(max(o.RetryBackoff, 10*time.Millisecond)),
		kgo.RetryBackoffFn(func(int) time.Duration { return o.RetryBackoff }),
		kgo.RequestRetries(math.MaxInt32), // limited by time
		kgo.DisableClientMetrics(),
	}
	if v, err := o.versions(); err != nil {
		return nil, err
	} else if v != nil {
		options = append(options, kgo.MaxVersions(v))
	} else {
		options = append(options, kgo.MaxVersions(kversion.Stable()))
	}
	if login := o.mechanism(); login != nil {
		options = append(options, kgo.SASL(login))
	}
	if o.Rack != "" {
		options = append(options, kgo.Rack(o.Rack))
	}
	client, err := kgo.NewClient(append(options, more...)...)
	if err != nil {
		return nil, wrap(err, "set up a client")
	}
	return &link{client: client, dialer: d, ended: make(chan struct{})}, nil
}

// close ends the client, in good order if it can be had before ctx ends, and in
// any case.
func (l *link) close(ctx context.Context) {
	l.closing.Store(true)
	l.dialer.quiet()
	l.shut.Do(func() {
		go func() {
			defer close(l.ended)
			l.client.CloseAllowingRebalance()
		}()
	})
	select {
	case <-l.ended:
	case <-ctx.Done():
	}
	l.dialer.kill()
}

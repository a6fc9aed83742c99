package brokers

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// Options say how to start a product. The zero value with a Home is one node
// without login and encryption on free ports, whose data are gone when it stops.
type Options struct {
	Home  Home
	Nodes int // 0 means 1
	// Port of the first node's main listener; 0: a free one. Further listeners
	// take free ports.
	Port int
	// Dir is where the broker keeps configuration, data and logs. It is made and
	// must not hold anything. Empty: a temporary directory, removed by Stop.
	Dir string
	// Settings are lines of the product's own configuration, by name, laid over
	// those that this package writes.
	Settings map[string]string
	// TLS, if not nil, is what clients must encrypt with.
	TLS *ServerTLS
	// User and Password, if not empty, are what clients must log in with.
	User, Password string
	// MaxMessage is the largest message in bytes that the broker shall carry;
	// 0: what the product carries by itself.
	MaxMessage int
	// Detach lets the broker outlive this process; [Up] does.
	Detach bool

	// forked, if not nil, is called with every process as soon as there is one,
	// before it is ready, from several goroutines. Its error ends the start.
	forked func(i *Instance, node bool) error
	// reserved are the ports that [Options.ports] has given out.
	reserved []reservation
}

// ServerTLS names the PEM files of a server that encrypts.
type ServerTLS struct {
	Cert, Key string
	// CA, if not empty, signs the certificates that clients must show.
	CA string
}

// deployment is what a product makes of Options: what to run and where it will
// be found.
type deployment struct {
	version string
	url     string            // for the first of the product's drivers
	urls    map[string]string // by driver, where it differs
	info    map[string]string // further addresses and paths, for tests and people
	// settings are those of the product's that are in effect and of weight, to
	// be shown beside results; what Options.Settings asks for is among them
	// without being listed here.
	settings map[string]string
	helpers  []process // started first, one after the other; stopped last
	nodes    []process // started together
	// ready returns nil when the whole answers, beyond the processes' own
	// readiness; nil: nothing more to ask. It is called again until then.
	ready func(ctx context.Context) error
}

// Cluster is a running product of one or more nodes. Its methods are safe for
// concurrent use.
type Cluster struct {
	Product string // without "@VERSION"
	Version string
	Origin  string            // of the installation, see Installation
	URL     string            // where clients connect, in the notation of the product's first driver
	Dir     string            // configuration, data and logs
	Info    map[string]string // further addresses and paths
	// Settings are those of the product's that are in effect, as far as they are
	// of weight or were asked for. They may hold passwords.
	Settings map[string]string

	urls  map[string]string
	ready func(ctx context.Context) error
	keep  bool // Dir stays

	resuming sync.Mutex // held by Resume throughout

	mu       sync.Mutex // held for moments only: a run reads the processes' usage meanwhile
	helpers  []*member
	nodes    []*member
	reserved []reservation // until Stop
}

// member is a process of a cluster, which may be started again.
type member struct {
	spec process
	*Instance
}

// URLFor returns where clients of the driver connect.
func (c *Cluster) URLFor(driver string) string {
	if url, ok := c.urls[driver]; ok {
		return url
	}
	return c.URL
}

// Start starts the product and returns when it answers. If it fails or ctx ends
// before, nothing is left running and no directory is left behind. Whoever gets
// a Cluster must stop it; unless o.Detach is set it also ends with this process.
func Start(ctx context.Context, p Product, o Options) (*Cluster, error) {
	fail := func(err error) (*Cluster, error) { return nil, fmt.Errorf("brokers: start %s: %w", p.Name, err) }
	if o.Nodes == 0 {
		o.Nodes = 1
	}
	if len(p.Clusters) == 0 {
		return fail(ErrBrokerless)
	}
	if !slices.Contains(p.Clusters, o.Nodes) {
		return fail(fmt.Errorf("%d nodes are asked for; there can be %v", o.Nodes, p.Clusters))
	}
	in, err := p.find(ctx, o.Home)
	if err != nil {
		return fail(err)
	}
	if o.Port != 0 {
		if err := checkPort(o.Port); err != nil {
			return fail(err)
		}
	}
	keep := o.Dir != ""
	if o.Dir, err = emptyDir(o.Dir, p.Name); err != nil {
		return fail(err)
	}
	product, _, _ := strings.Cut(p.Name, "@")
	c := &Cluster{Product: product, Origin: in.Origin, Dir: o.Dir, keep: keep}
	if err := c.start(ctx, p, in, &o); err != nil {
		c.keep = false // nothing of worth is in there
		return fail(errors.Join(err, c.Stop(context.WithoutCancel(ctx))))
	}
	return c, nil
}

func (c *Cluster) start(ctx context.Context, p Product, in Installation, o *Options) error {
	d, err := p.deploy(ctx, in, o)
	c.reserved = o.reserved
	if err != nil {
		return err
	}
	c.Version, c.URL, c.urls, c.Info, c.ready = d.version, d.url, d.urls, d.info, d.ready
	c.Settings = maps.Clone(d.settings)
	if c.Settings == nil {
		c.Settings = map[string]string{}
	}
	maps.Copy(c.Settings, o.Settings)
	if c.Version == "" {
		c.Version = in.Version
	}
	for k, list := range [][]process{d.helpers, d.nodes} {
		for i := range list {
			list[i].detach = o.Detach
			if o.forked != nil {
				list[i].forked = func(i *Instance) error { return o.forked(i, k == 1) }
			}
		}
	}
	for _, h := range d.helpers {
		i, err := h.start(ctx)
		if err != nil {
			return err
		}
		c.helpers = append(c.helpers, &member{h, i})
	}
	for _, n := range d.nodes {
		c.nodes = append(c.nodes, &member{spec: n})
	}
	return c.startNodes(ctx)
}

// startNodes starts all nodes at once and waits until they and the whole answer.
func (c *Cluster) startNodes(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	// Of several errors the first is returned: the others have been
	// cancelled for its sake.
	var failure error
	var failing sync.Once
	var starting sync.WaitGroup
	for _, m := range c.nodes {
		starting.Go(func() {
			i, err := m.spec.startAgain(ctx)
			if err != nil {
				failing.Do(func() { failure = err })
				cancel(err)
				return
			}
			c.mu.Lock()
			m.Instance = i
			c.mu.Unlock()
		})
	}
	starting.Wait()
	if failure != nil {
		return failure
	}
	if c.ready == nil {
		return nil
	}
	if err := poll(ctx, c.ended(), c.ready); err != nil {
		return fmt.Errorf("the nodes run, but do not answer together: %w", err)
	}
	return nil
}

// ended returns a channel that is closed when the first node has ended, or nil
// or empty.
func (c *Cluster) ended() <-chan struct{} {
	for _, i := range c.Nodes() {
		return i.done
	}
	return nil
}

// instances returns all processes that run, or have run: nodes first.
func (c *Cluster) instances() []*Instance {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []*Instance
	for _, m := range slices.Concat(c.nodes, c.helpers) {
		if m.Instance != nil {
			all = append(all, m.Instance)
		}
	}
	return all
}

// Nodes returns the nodes' processes as they are now; a restart replaces them.
func (c *Cluster) Nodes() []*Instance {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []*Instance
	for _, m := range c.nodes {
		if m.Instance != nil {
			all = append(all, m.Instance)
		}
	}
	return all
}

// Stop ends all processes for sure and removes what was made for them, unless
// Options.Dir asked for it to stay. A broker whose data are thrown away is
// killed: a clean end would only take time. Stopping twice is allowed.
func (c *Cluster) Stop(ctx context.Context) error {
	var errs []error
	var stopping sync.WaitGroup
	all := c.instances()
	results := make([]error, len(all))
	for k, i := range all {
		stopping.Go(func() {
			if c.keep {
				results[k] = i.Stop(ctx)
			} else {
				results[k] = i.destroy(ctx)
			}
		})
	}
	stopping.Wait()
	errs = append(errs, results...)
	c.mu.Lock()
	errs = append(errs, release(c.reserved))
	c.reserved = nil
	c.mu.Unlock()
	if !c.keep {
		errs = append(errs, removeAll(c.Dir))
	}
	return errors.Join(errs...)
}

// Kill kills all nodes (SIGKILL), as a power failure of the broker would; Resume
// starts them again.
func (c *Cluster) Kill(ctx context.Context) error {
	var errs []error
	for _, i := range c.Nodes() {
		errs = append(errs, i.destroy(ctx))
	}
	return errors.Join(errs...)
}

// Resume starts killed nodes again, at the same addresses with the same data,
// and returns when they answer.
func (c *Cluster) Resume(ctx context.Context) error {
	c.resuming.Lock()
	defer c.resuming.Unlock()
	for _, i := range c.Nodes() {
		if !i.over() {
			return fmt.Errorf("brokers: resume %s: %s (process %d) still runs", c.Product, i.Name, i.PID)
		}
	}
	if err := c.startNodes(ctx); err != nil {
		return fmt.Errorf("brokers: resume %s: %w", c.Product, err)
	}
	return nil
}

// Freeze stops all nodes where they stand, see [Instance.Freeze].
func (c *Cluster) Freeze() error {
	var errs []error
	for _, i := range c.Nodes() {
		errs = append(errs, i.Freeze())
	}
	return errors.Join(errs...)
}

// Thaw lets all frozen nodes go on.
func (c *Cluster) Thaw() error {
	var errs []error
	for _, i := range c.Nodes() {
		errs = append(errs, i.Thaw())
	}
	return errors.Join(errs...)
}

// Err returns nil while all processes run and after they were stopped; else how
// the first of them ended.
func (c *Cluster) Err() error {
	for _, i := range c.instances() {
		if err := i.Err(); err != nil {
			return err
		}
	}
	return nil
}

// ErrNotEmpty says that a directory for a broker's data holds something.
var ErrNotEmpty = errors.New("is not empty")

// emptyDir makes the directory, or a temporary one.
func emptyDir(dir, product string) (string, error) {
	if dir == "" {
		return scratch(product)
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	if len(entries) > 0 {
		return "", fmt.Errorf("%s %w", dir, ErrNotEmpty)
	}
	return dir, nil
}

// removeAll removes a directory into which a killed process's last writes may
// still come.
func removeAll(dir string) error {
	var err error
	for range 20 {
		if err = os.RemoveAll(dir); err == nil || errors.Is(err, fs.ErrPermission) {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	return err
}

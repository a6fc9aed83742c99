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

	"sixnines/internal/disk"
	"sixnines/internal/netns"
)

// Options say how to start a product. The zero value with a Home starts one node
// without login and encryption on free ports, whose data Stop removes.
type Options struct {
	Home  Home
	Nodes int // 0 means 1
	// Port is the port of the first node's main listener; 0: a free one. Further
	// listeners use free ports.
	Port int
	// Dir is the directory for configuration, data and logs. Start makes it; if it
	// exists it must be empty. Empty: a temporary directory, removed by Stop.
	Dir string
	// Settings are lines of the product's own configuration, by name; they replace
	// those that this package writes.
	Settings map[string]string
	// TLS, if not nil, makes the broker accept only encrypted connections.
	TLS *ServerTLS
	// User and Password, if not empty, are the login that clients must use.
	User, Password string
	// Secured, if not nil, encrypts by an authority of its own and gives clients an account that may do this
	// and nothing else; see Cluster.Access. TLS, User and Password must be empty then. Start fails with an error
	// that wraps [ErrNotSecured] if the product, or one of the drivers, cannot be secured.
	Secured []Grant
	// MaxMessage is the largest message that the broker must accept, in bytes; 0: the
	// product's default.
	MaxMessage int
	// Died, if not nil, is called once for each process that ends by itself after its start,
	// with what Instance.Err says, on a goroutine of its own.
	Died func(err error)
	// Detach lets the broker outlive this process; [Up] sets it.
	Detach bool
	// Apart gives each node a network namespace with an address of its own, see package netns, so
	// that nodes can be cut from each other and from clients. Start fails with an error that wraps
	// [netns.ErrUnavailable] where there can be none.
	Apart bool

	// Disks, if not nil, gives each node's data a file system of its own that can fail. Start fails with an
	// error that wraps [disk.ErrUnavailable] where there can be none, and one that wraps [ErrNoDisk] if
	// the product has no data on disk.
	Disks *Disks

	// forked, if not nil, is called with every process as soon as it exists, before it
	// is ready, from several goroutines at once. Its error ends the start.
	forked func(i *Instance, node bool) error
	// reserved are the ports that [Options.ports] has reserved.
	reserved []reservation
	network  *netns.Network // with Apart
	account  *account       // with Secured
}

// ServerTLS names the PEM files of a server that encrypts.
type ServerTLS struct {
	Cert, Key string
	// CA, if not empty, signs the certificates that clients must show.
	CA string
	// Authority signed Cert; empty: CA did. Servers that are each other's clients need it.
	Authority string
}

// deployment is the result of a product's deploy: what to run, and where clients find it.
type deployment struct {
	version string
	url     string            // for the first of the product's drivers
	urls    map[string]string // by driver, where it differs
	info    map[string]string // further addresses and paths, for tests and people
	// settings are the product's effective settings that matter for results, to be
	// shown beside them. Options.Settings are added to them.
	settings map[string]string
	helpers  []process // started first, one after the other; stopped last
	nodes    []process // started together
	// ready is polled once all processes are ready, and returns nil when the cluster as
	// a whole answers; nil: no further check.
	ready func(ctx context.Context) error
	late  []process // started when the nodes are ready, one after the other; stopped like helpers
	roles roles     // of several nodes
	// login, with Options.Secured, is how clients log in where that is not by user and password.
	login *Access
}

// Cluster is a running product of one or more nodes. Its methods are safe for
// concurrent use. Its exported fields do not change after Start.
type Cluster struct {
	Product string // without "@VERSION"
	Version string
	Origin  string            // of the installation, see Installation
	URL     string            // where clients connect, in the notation of the product's first driver
	Dir     string            // configuration, data and logs
	Info    map[string]string // further addresses and paths
	// Settings are the product's effective settings that matter for results or were
	// in Options. They may contain passwords.
	Settings map[string]string

	urls    map[string]string
	access  map[string]Access
	ready   func(ctx context.Context) error
	roles   roles
	keep    bool               // Dir stays
	network *netns.Network     // nil: the nodes are on loopback
	disks   []*disk.FileSystem // of each node, with Options.Disks; made before the nodes
	death   func(err error)    // Options.Died
	alive   context.Context    // ends with Stop, and with it starts that are under way
	cancel  context.CancelFunc

	// resuming counts starts of nodes that are under way. It is added to under mu, and only
	// until stopped is set, so that Stop can wait for all.
	resuming sync.WaitGroup

	// mu guards the fields below and the members' once nodes are started. It is never
	// held while a process starts or ends: a run reads the processes' usage meanwhile.
	mu       sync.Mutex
	helpers  []*member
	nodes    []*member
	reserved []reservation // until Stop
	stopped  bool          // Stop was called
	died     error         // of the first process that ended by itself and was replaced
}

// member is a process of a cluster, which may be started again.
type member struct {
	spec process
	*Instance
	dark     bool // its power failed, and its file system must be recovered
	starting bool // a start is under way: Instance is the process before, or nil
}

// URLFor returns where clients of the driver connect.
func (c *Cluster) URLFor(driver string) string {
	if url, ok := c.urls[driver]; ok {
		return url
	}
	return c.URL
}

// Start starts the product and returns when it answers. If it fails or ctx ends
// before, it leaves no process and no directory behind. The caller must stop the
// Cluster; unless o.Detach is set it also ends with this process. The error may
// wrap [ErrBrokerless], [ErrNotInstalled], [ErrUnusable], [ErrSetting],
// [ErrPortTaken] or [ErrNotEmpty].
func Start(ctx context.Context, p Product, o Options) (*Cluster, error) {
	fail := func(err error) (*Cluster, error) { return nil, fmt.Errorf("brokers: start %s: %w", p.Name, err) }
	if o.Nodes == 0 {
		o.Nodes = 1
	}
	if len(p.Clusters) == 0 {
		return fail(ErrBrokerless)
	}
	if !slices.Contains(p.Clusters, o.Nodes) {
		return fail(fmt.Errorf("%d nodes were requested; possible are %v", o.Nodes, p.Clusters))
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
	c := &Cluster{Product: product, Origin: in.Origin, Dir: o.Dir, keep: keep, death: o.Died}
	c.alive, c.cancel = context.WithCancel(context.Background())
	if err := c.start(ctx, p, in, &o); err != nil {
		c.keep = false // a failed start leaves nothing worth keeping
		return fail(errors.Join(err, c.Stop(context.WithoutCancel(ctx))))
	}
	return c, nil
}

func (c *Cluster) start(ctx context.Context, p Product, in Installation, o *Options) error {
	if err := o.apart(); err != nil {
		return err
	}
	c.network = o.network
	if err := o.secure(p); err != nil {
		return err
	}
	d, err := p.deploy(ctx, in, o)
	c.reserved = o.reserved
	if err != nil {
		return err
	}
	c.Version, c.URL, c.urls, c.Info, c.ready, c.roles = d.version, d.url, d.urls, d.info, d.ready, d.roles
	c.access = o.access(p, d)
	c.Settings = maps.Clone(d.settings)
	if c.Settings == nil {
		c.Settings = map[string]string{}
	}
	maps.Copy(c.Settings, o.Settings)
	if c.Version == "" {
		c.Version = in.Version
	}
	for k, list := range [][]process{d.helpers, d.nodes, d.late} {
		for i := range list {
			list[i].detach = o.Detach
			if o.forked != nil {
				list[i].forked = func(i *Instance) error { return o.forked(i, k == 1) }
			}
		}
	}
	if err := c.makeDisks(p, o, d.nodes); err != nil {
		return err
	}
	if err := c.startHelpers(ctx, d.helpers); err != nil {
		return err
	}
	for _, n := range d.nodes {
		c.nodes = append(c.nodes, &member{spec: n, starting: true})
	}
	c.resuming.Add(1)
	if err := c.startNodes(ctx, c.nodes); err != nil {
		return err
	}
	if err := c.startHelpers(ctx, d.late); err != nil {
		return err
	}
	if err := c.together(ctx); err != nil {
		return err
	}
	return c.syncDisks()
}

// startHelpers starts processes beside the nodes, one after the other.
func (c *Cluster) startHelpers(ctx context.Context, all []process) error {
	for _, h := range all {
		i, err := h.start(ctx)
		if err != nil {
			return err
		}
		c.helpers = append(c.helpers, &member{spec: h, Instance: i})
		c.watch(i)
	}
	return nil
}

// instances returns the latest process of each member, running or ended: nodes first.
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

// Nodes returns the nodes' current processes; a restart replaces them.
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

// Stop ends all processes and removes the cluster's directory, unless Options.Dir
// named it. Brokers whose data are removed are killed at once; the others get 20 s
// to end by themselves, less if ctx ends. A Resume that is under way fails, and from then on
// nothing is started. Stopping twice is allowed.
func (c *Cluster) Stop(ctx context.Context) error {
	c.mu.Lock()
	c.stopped = true
	c.mu.Unlock()
	c.cancel()
	c.resuming.Wait() // what it has started is in instances then, or gone
	var stopping sync.WaitGroup
	all := c.instances()
	errs := make([]error, len(all))
	for k, i := range all {
		stopping.Go(func() {
			if c.keep {
				errs[k] = i.Stop(ctx)
			} else {
				errs[k] = i.destroy(ctx)
			}
		})
	}
	stopping.Wait()
	c.mu.Lock()
	errs = append(errs, release(c.reserved))
	c.reserved = nil
	c.mu.Unlock()
	if c.network != nil {
		errs = append(errs, c.network.Close())
	}
	errs = append(errs, c.removeDisks(context.WithoutCancel(ctx)))
	if !c.keep {
		errs = append(errs, removeAll(c.Dir))
	}
	return errors.Join(errs...)
}

// Err returns nil as long as no process has ended by itself: those that Kill, Terminate and
// Stop end do not count. It says how the first did, also after a Resume.
func (c *Cluster) Err() error {
	c.mu.Lock()
	err := c.died
	c.mu.Unlock()
	if err != nil {
		return err
	}
	for _, i := range c.instances() {
		if err := i.Err(); err != nil {
			return err
		}
	}
	return nil
}

// ErrNotEmpty says that a directory for a broker's data is not empty.
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

// removeAll removes a directory. It retries for 200 ms, because a killed process may
// still write into it.
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

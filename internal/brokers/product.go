package brokers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// ErrNotInstalled says that a product is not on this machine. Errors that wrap it
// say what was looked for.
var ErrNotInstalled = errors.New("not installed")

// ErrUnusable says that an installation, on PATH or named by a variable, is
// incomplete or not the product.
var ErrUnusable = errors.New("unusable installation")

// ErrBrokerless says that a product has no broker to start: its drivers connect
// producers and consumers to each other.
var ErrBrokerless = errors.New("it has no broker to start")

// Product is a broker that this package can obtain and run.
type Product struct {
	Name    string   // as in "sixnines broker up NAME" and target.managed
	Summary string   // one line for users
	Drivers []string // names of the drivers that speak with it; of the first it is the default broker
	// Clusters are the numbers of nodes that can be started, 1 among them; empty:
	// the product has no broker, see [ErrBrokerless].
	Clusters []int
	// Starts is how long a node takes, once it is started again, until it answers, on two busy processors.
	Starts time.Duration
	// Led are those of Drivers whose destinations have a leader among several nodes.
	Led []string
	// Variable is the environment variable that names the installation to use, such
	// as KAFKA_HOME; may be empty.
	Variable string
	// Secures are those of Drivers for which it can be secured, see Options.Secured.
	Secures []string
	// Diskless says why its data cannot be on a file system of its own; empty: they can.
	Diskless string

	// find locates an installation and changes nothing: the one that Variable
	// names, then one on PATH, then one that plan has made below the home.
	find func(ctx context.Context, h Home) (Installation, error)
	// plan lists the steps after which find succeeds.
	plan func(ctx context.Context, h Home) ([]Step, error)
	// versions says how other versions are installed; nil: only one is available.
	versions *versions
	// deploy writes the configuration of o.Nodes nodes below o.Dir and returns what
	// to run. No process that it starts outlives the call. Nil if Clusters is empty.
	deploy func(ctx context.Context, in Installation, o *Options) (*deployment, error)
}

// Installation is a product as it was found on this machine.
type Installation struct {
	Version string // the product's own, such as "4.3.1"
	Path    string // the program, or the directory that holds it
	Origin  string // where it comes from: "on PATH", "named by KAFKA_HOME", "installed by sixnines", or builtIn
}

// builtIn is the origin of a broker that is this program under another name.
const builtIn = "built in"

// Products lists all products, by name. There is no other registry.
func Products() []Product {
	return []Product{
		Artemis(),
		Kafka(),
		Kafka08(),
		Kafka09(),
		Mosquitto(),
		NATS(),
		NATSStreaming(),
		NSQ(),
		Null(),
		Pulsar(),
		RabbitMQ(),
		Redis(),
		RedisCluster(),
		ZeroMQ(),
	}
}

// Lookup returns the product with the name.
func Lookup(name string) (Product, bool) {
	all := Products()
	i := slices.IndexFunc(all, func(p Product) bool { return p.Name == name })
	if i < 0 {
		return Product{}, false
	}
	return all[i], true
}

// ForDriver returns the product that the driver's runs use unless asked
// otherwise: the one that names the driver first, else any that speaks with it.
func ForDriver(name string) (Product, bool) {
	all := Products()
	i := slices.IndexFunc(all, func(p Product) bool { return len(p.Drivers) > 0 && p.Drivers[0] == name })
	if i < 0 {
		i = slices.IndexFunc(all, func(p Product) bool { return slices.Contains(p.Drivers, name) })
	}
	if i < 0 {
		return Product{}, false
	}
	return all[i], true
}

// Find locates the product. The error wraps [ErrNotInstalled] if it is not installed, and
// may wrap [ErrUnusable].
func (p Product) Find(ctx context.Context, h Home) (Installation, error) {
	in, err := p.find(ctx, h)
	if err != nil {
		return Installation{}, fmt.Errorf("brokers: %s: %w", p.Name, err)
	}
	return in, nil
}

// Plan lists the steps that install the product; nil if it is installed.
func (p Product) Plan(ctx context.Context, h Home) ([]Step, error) {
	_, err := p.find(ctx, h)
	if err == nil {
		return nil, nil
	}
	if !errors.Is(err, ErrNotInstalled) {
		return nil, fmt.Errorf("brokers: %s: %w", p.Name, err)
	}
	steps, err := p.plan(ctx, h)
	if err != nil {
		return nil, fmt.Errorf("brokers: install %s: %w", p.Name, err)
	}
	return steps, nil
}

// notInstalled returns the error of a find that found nothing of what it looked for.
func notInstalled(looked ...string) error {
	return fmt.Errorf("%w: no %s", ErrNotInstalled, strings.Join(looked, ", no "))
}

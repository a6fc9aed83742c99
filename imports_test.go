package sixnines_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// module is the module's path, and the prefix of its packages.
const module = "sixnines"

// may is what a package may import beside the standard library.
type may struct {
	ours   []string // packages of this module, without its path
	others []string // packages of others, each with all below it
	why    string   // where it goes beyond what the design foresaw
}

// The libraries.
const (
	hdrHistogram    = "github.com/HdrHistogram/hdrhistogram-go"
	gonum           = "gonum.org/v1/gonum"
	canvas          = "git.sr.ht/~sbinet/gg"
	liberation      = "codeberg.org/go-fonts/liberation"
	image           = "golang.org/x/image"
	natsClient      = "github.com/nats-io/nats.go"
	stanClient      = "github.com/nats-io/stan.go"
	rabbitClient    = "github.com/rabbitmq/amqp091-go"
	streamClient    = "github.com/rabbitmq/rabbitmq-stream-go-client"
	goAMQP          = "github.com/Azure/go-amqp"
	mqtt5Client     = "github.com/eclipse/paho.golang"
	mqtt3Client     = "github.com/eclipse/paho.mqtt.golang"
	natsKeys        = "github.com/nats-io/nkeys"
	franzGo         = "github.com/twmb/franz-go"
	natsServer      = "github.com/nats-io/nats-server/v2"
	redigo          = "github.com/gomodule/redigo"
	goRedis         = "github.com/redis/go-redis/v9"
	mangos          = "go.nanomsg.org/mangos/v3"
	nsqClient       = "github.com/nsqio/go-nsq"
	pulsarClient    = "github.com/apache/pulsar-client-go"
	snappy          = "github.com/golang/snappy"
	sys             = "golang.org/x/sys"
	term            = "golang.org/x/term"
	yaml            = "go.yaml.in/yaml/v4"
	cobra           = "github.com/spf13/cobra"
	pflag           = "github.com/spf13/pflag"
	bubbletea       = "charm.land/bubbletea/v2"
	lipgloss        = "charm.land/lipgloss/v2"
	colorProfile    = "github.com/charmbracelet/colorprofile"
	prometheus      = "github.com/prometheus/client_golang"
	prometheusModel = "github.com/prometheus/client_model"
	prometheusText  = "github.com/prometheus/common"
	openTelemetry   = "go.opentelemetry.io/proto/otlp"
	protobuf        = "google.golang.org/protobuf"
	jsonSchema      = "github.com/santhosh-tekuri/jsonschema/v6"
	ansi            = "github.com/charmbracelet/x/ansi"
)

// allowed says of every package what it may import. A package that is not here
// has not been thought about.
func allowed() map[string]may {
	return map[string]may{
		"": {ours: []string{"driver", "internal/engine", "result", "scenario"}},
		"scenario": {ours: []string{"internal/jsonschema", "internal/spell"}, others: []string{yaml},
			why: "schemas are written in one way, values read and mistyped words guessed in one way"},
		"internal/jsonschema": {},
		"internal/jsonschema/generate": {ours: []string{"internal/jsonschema"}, others: []string{jsonSchema},
			why: "tests make the schemas of what is written from its types, and hold real output to them"},
		"driver": {ours: []string{"internal/spell"},
			why: "the same, of options"},
		"result": {ours: []string{"internal/spell"}, others: []string{hdrHistogram, sys},
			why: "the raw file is mapped into memory; accounts that do not add up are told in words"},
		"driver/drivertest": {ours: []string{"driver"}},

		"drivers/all": {ours: []string{"driver", "drivers/amqp10", "drivers/jetstream", "drivers/kafka", "drivers/mem", "drivers/mqtt", "drivers/nanomsg", "drivers/nats", "drivers/nsq", "drivers/null", "drivers/pulsar", "drivers/rabbitmq", "drivers/rabbitmqstream", "drivers/redis", "drivers/redisstreams", "drivers/stan", "drivers/zeromq"}},
		"drivers/kafka": {ours: []string{"driver", "drivers/internal/kit", "internal/keys"}, others: []string{franzGo},
			why: "the option key makes keys as workload.keys does"},
		"drivers/mem": {ours: []string{"driver"}},
		"drivers/internal/resp": {ours: []string{"driver", "drivers/internal/kit"}, others: []string{redigo, goRedis},
			why: "what the drivers of Redis share"},
		"drivers/internal/resp/resptest": {ours: []string{"driver", "driver/drivertest", "internal/brokers", "internal/brokers/brokertest"}, others: []string{redigo},
			why: "tests of both drivers of Redis start and ask the same server"},
		"drivers/internal/sessiontest": {ours: []string{"driver"},
			why: "tests of drivers count and wait in one way"},
		"drivers/redis":               {ours: []string{"driver", "drivers/internal/resp"}, others: []string{goRedis, redigo}},
		"drivers/redisstreams":        {ours: []string{"driver", "drivers/internal/resp"}, others: []string{goRedis, redigo}},
		"drivers/stan":                {ours: []string{"driver", "drivers/internal/kit", "drivers/internal/natswire"}, others: []string{natsClient, stanClient}},
		"drivers/rabbitmq":            {ours: []string{"driver", "drivers/internal/kit", "drivers/internal/rabbit", "drivers/rabbitmq/wire"}, others: []string{rabbitClient}},
		"drivers/rabbitmq/wire":       {ours: []string{"drivers/internal/kit", "drivers/internal/rabbit/beat"}},
		"drivers/rabbitmqstream":      {ours: []string{"driver", "drivers/internal/kit", "drivers/internal/rabbit", "drivers/rabbitmqstream/wire"}, others: []string{streamClient}},
		"drivers/rabbitmqstream/wire": {ours: []string{"drivers/internal/kit", "drivers/internal/rabbit/beat"}},
		"drivers/amqp10": {ours: []string{"driver", "drivers/internal/kit", "drivers/internal/rabbit"}, others: []string{goAMQP},
			why: "AMQP 1.0 is one of the protocols of RabbitMQ"},
		"drivers/nats":      {ours: []string{"driver", "drivers/internal/natswire"}, others: []string{natsClient}},
		"drivers/jetstream": {ours: []string{"driver", "drivers/internal/kit", "drivers/internal/natswire"}, others: []string{natsClient}},
		"drivers/internal/natswire": {ours: []string{"driver", "drivers/internal/kit"}, others: []string{natsClient, natsKeys},
			why: "the connections and frames that core NATS and JetStream share, and how they and NATS Streaming dial"},

		"drivers/internal/natswire/natswiretest": {ours: []string{"driver/drivertest"}, others: []string{natsClient},
			why: "tests of both drivers of NATS look at messages with the client library alone"},
		"drivers/internal/kit": {ours: []string{"driver"},
			why: "what every driver needs is written once"},
		"drivers/internal/rabbit": {ours: []string{"driver", "drivers/internal/kit"},
			why: "logins, lost connections and errors of RabbitMQ are the same over each of its protocols"},
		"drivers/internal/rabbit/beat": {
			why: "who is silent for too long is gone over each of RabbitMQ's protocols"},
		"drivers/internal/rabbit/rabbittest": {ours: []string{"driver", "driver/drivertest"}, others: []string{rabbitClient},
			why: "tests of both drivers of RabbitMQ wait for the same"},
		"drivers/internal/mesh": {ours: []string{"driver"},
			why: "who binds and who connects, where there is no broker to meet at"},
		"drivers/zeromq": {ours: []string{"driver", "drivers/internal/kit", "drivers/internal/mesh"}},
		"drivers/mqtt":   {ours: []string{"driver", "drivers/internal/kit"}, others: []string{mqtt5Client, mqtt3Client}},

		"drivers/nanomsg": {ours: []string{"driver", "drivers/internal/kit", "drivers/internal/mesh"}, others: []string{mangos}},
		"drivers/nsq":     {ours: []string{"driver", "drivers/internal/kit"}, others: []string{nsqClient, snappy}},
		"drivers/pulsar": {ours: []string{"driver", "drivers/internal/kit"}, others: []string{pulsarClient, prometheus},
			why: "the client registers its metrics with a registry, which is not to be the process's"},
		"drivers/null": {ours: []string{"driver", "internal/nullbroker"},
			why: "the frames of our own broker's protocol have one encoder and one decoder"},

		"internal/schedule": {ours: []string{"scenario"}},
		"internal/engine": {ours: []string{"driver", "internal/clock", "internal/integrity", "internal/judge", "internal/keys", "internal/probe", "internal/ring", "internal/transport",
			"internal/recorder", "internal/schedule", "internal/spell", "internal/vitals", "result", "scenario"}, others: []string{sys},
			why: "the engine watches its own host, and ends a run with the verdict; clocks are one package for it and the watching; it lowers the priority of its collector's thread"},
		"internal/transport": {ours: []string{"internal/clock"}, others: []string{sys},
			why: "sockets are written and read by system calls, and their receive time stamps are of the kernel's clock"},
		"internal/probe": {ours: []string{"driver", "internal/child", "internal/clock", "result", "scenario"},
			why: "the two ends of the pipe between a load and the probe beside it: its scenario there, its distributions back"},
		"internal/clock": {others: []string{sys},
			why: "the monotonic clock and absolute sleeps, which the standard library does not give"},
		"internal/clocksync": {
			why: "offsets between the clocks of two machines are arithmetic on instants that others read"},
		"internal/recorder":  {ours: []string{"result"}, others: []string{hdrHistogram}},
		"internal/integrity": {},
		"internal/ring":      {},
		"internal/gofast":    {ours: []string{"internal/ring"}, why: "micro-benchmarks of techniques: the ring is one of them"},
		"internal/keys": {
			why: "which key a message has is one function, whoever asked for it"},
		"internal/child": {
			why: "what watches the machine and what measures beside the load are started, and end, in one way"},
		"internal/vitals": {ours: []string{"internal/child", "internal/clock", "internal/spell", "internal/stats"}, others: []string{sys},
			why: "freezes are timed on the clock of the messages; the correction for an expected interval is one for hiccups and service times"},
		"internal/stats": {others: []string{gonum}},
		"internal/judge": {ours: []string{"internal/spell", "internal/stats", "result", "scenario"},
			why: "summary and verdict from intervals alone: for the engine at the end of a run, and for verify of a file; objectives are part of a scenario"},
		"internal/judge/judgetest": {ours: []string{"internal/judge", "result"},
			why: "tests of whoever makes runs check the same of each"},
		"internal/compare": {ours: []string{"internal/spell", "internal/stats", "result"}},
		"internal/spell/spelltest": {
			why: "tests of whatever users read check it in the same way"},
		"internal/spell": {
			why: "numbers are written in one way wherever people read them"},
		"internal/sweep": {ours: []string{"internal/judge", "internal/spell", "internal/stats", "result", "scenario"}, others: []string{gonum},
			why: "the mathematics of sweeps: the values of an axis are a scenario's, and what a trial shows of an objective is the judge's to say; curves are fitted by least squares"},
		"internal/report": {ours: []string{"internal/compare", "internal/judge", "internal/spell", "internal/stats", "internal/study", "internal/sweep", "internal/telemetry", "result"}, others: []string{hdrHistogram, canvas, image, liberation, lipgloss},
			why: "files that were cut short are judged when they are shown"},
		"internal/telemetry": {ours: []string{"result"}, others: []string{openTelemetry, prometheus, prometheusModel, prometheusText, protobuf},
			why: "the formats of monitoring systems are written by the library of the field"},
		"internal/brokers": {ours: []string{"internal/filelock", "internal/nullbroker", "internal/spell"}, others: []string{natsServer},
			why: "the null broker is built in, as the NATS server is"},
		"internal/study": {ours: []string{"internal/gofast", "internal/judge", "internal/spell", "internal/stats", "result", "scenario"}, others: []string{yaml},
			why: "the studies as data: a cell's scenario is put together of parts of a YAML text, and percentiles that summaries do not publish are the judge's to compute"},
		"internal/filelock": {
			why: "who works in a directory is kept apart in one way: brokers' home, and results of a series"},
		"internal/trials": {ours: []string{"internal/filelock"}},
		"internal/nullbroker": {ours: []string{"internal/clock", "internal/integrity"},
			why: "its log says of each message when it came and went, on the clock of the tool"},
		"internal/brokers/brokertest": {ours: []string{"driver", "internal/brokers"},
			why: "tests of drivers and of the command line start the same brokers"},
		"internal/selftest": {ours: []string{"driver", "internal/brokers", "internal/clock", "internal/clocksync", "internal/engine", "internal/judge", "internal/nullbroker", "internal/probe", "internal/recorder", "internal/report", "internal/schedule", "internal/spell", "internal/stats", "internal/vitals", "result", "scenario"}, others: []string{hdrHistogram, sys},
			why: "the tool on trial: it runs scenarios against brokers that do to messages what is known"},
		"internal/cli": {ours: []string{"driver", "internal/brokers", "internal/compare", "internal/engine", "internal/filelock", "internal/gofast", "internal/judge", "internal/probe", "internal/report",
			"internal/schedule", "internal/selftest", "internal/spell", "internal/stats", "internal/study", "internal/sweep", "internal/telemetry", "internal/trials", "internal/vitals", "result", "scenario"},
			others: []string{ansi, bubbletea, cobra, colorProfile, lipgloss, pflag}},
		"internal/cli/manual": {ours: []string{"internal/cli"}, others: []string{cobra},
			why: "what renders manual pages is not linked into the program"},
		"cmd/sixnines": {ours: []string{"drivers/all", "internal/cli"}, others: []string{term},
			why: "whether a stream is a terminal is the process's business, which cli is kept free of"},

		"examples/http":   {ours: []string{"", "result", "scenario"}},
		"examples/driver": {ours: []string{"driver"}},
		"benchmarks/startbroker": {ours: []string{"internal/brokers"},
			why: "comparisons start the brokers that drivers are tested with"},
		"benchmarks/bareloop": {ours: []string{"benchmarks/exact"}, others: []string{natsClient, sys},
			why: "the client library without Sixnines, to compare with"},
		"benchmarks/ordinary": {ours: []string{"benchmarks/exact"}, others: []string{franzGo, natsClient, rabbitClient},
			why: "client libraries in an ordinary program, to compare with"},
		"benchmarks/exact": {
			why: "the reference programs in Go describe what they measured in one way"},
	}
}

// listed is a package as go list describes it.
type listed struct {
	ImportPath, Dir, Doc, Export                                          string
	Standard                                                              bool
	GoFiles, CgoFiles, IgnoredGoFiles, TestGoFiles, XTestGoFiles, Imports []string
}

func list(t *testing.T, args ...string) []listed {
	t.Helper()
	c := exec.CommandContext(t.Context(), "go", append([]string{"list", "-json"}, args...)...)
	c.Env = append(os.Environ(), "GOOS=linux") // where all packages have files
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("go list %v: %v\n%s", args, err, stderr.String())
	}
	var all []listed
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// name is a package's path in the module.
func (p listed) name() string {
	return strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
}

// external reports whether path is neither of the standard library nor ours.
func external(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return strings.Contains(first, ".")
}

// Every file counts, those for other systems too: what is imported must be in
// the table, and what is in the table must exist.
func TestImports(t *testing.T) {
	table := allowed()
	seen := map[string]bool{}
	for _, p := range list(t, "./...") {
		rule, known := table[p.name()]
		if !known {
			t.Errorf("%s is not in the import table", p.ImportPath)
			continue
		}
		seen[p.name()] = true
		used := map[string]bool{}
		for _, f := range p.parse(t, parser.ImportsOnly, false) {
			for _, spec := range f.Imports {
				path, err := strconv.Unquote(spec.Path.Value)
				if err != nil {
					t.Fatal(err)
				}
				if ours, is := strings.CutPrefix(path, module); is && (ours == "" || ours[0] == '/') {
					ours = strings.TrimPrefix(ours, "/")
					used[ours] = true
					if !slices.Contains(rule.ours, ours) {
						t.Errorf("%s imports %s, which the import table does not allow", p.ImportPath, path)
					}
				} else if external(path) {
					if i := slices.IndexFunc(rule.others, func(o string) bool { return path == o || strings.HasPrefix(path, o+"/") }); i < 0 {
						t.Errorf("%s imports %s, which the import table does not allow", p.ImportPath, path)
					}
				}
			}
		}
		for _, o := range rule.ours {
			if _, ok := table[o]; !ok {
				t.Errorf("the import table lets %s import %q, which does not exist", p.ImportPath, o)
			}
		}
		if strings.TrimSpace(p.Doc) == "" {
			t.Errorf("%s has no package comment", p.ImportPath)
		}
	}
	for name := range table {
		if !seen[name] {
			t.Errorf("the import table has %q, which does not exist", name)
		}
	}
}

// parse parses the package's files, whatever system they are for.
func (p listed) parse(t *testing.T, mode parser.Mode, tests bool) []*ast.File {
	t.Helper()
	names := slices.Concat(p.GoFiles, p.CgoFiles)
	for _, f := range p.IgnoredGoFiles {
		if !strings.HasSuffix(f, "_test.go") {
			names = append(names, f)
		}
	}
	if tests {
		names = slices.Concat(names, p.TestGoFiles, p.XTestGoFiles)
	}
	var files []*ast.File
	set := token.NewFileSet()
	for _, name := range names {
		f, err := parser.ParseFile(set, filepath.Join(p.Dir, name), nil, mode)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	return files
}

// Who writes a driver, or reads results, does not link a broker's client, nor
// who runs scenarios with drivers of their own choice.
func TestNobodyLinksAClientUnasked(t *testing.T) {
	for _, tt := range []struct {
		name   string
		others []string // all that may be linked
	}{
		{"driver", nil},
		{"driver/drivertest", nil},
		{"result", []string{hdrHistogram, sys}},
		{"scenario", []string{yaml}},
		{"internal/engine", []string{hdrHistogram, sys, yaml, gonum}},
		{"", []string{hdrHistogram, sys, yaml, gonum}},
	} {
		for _, p := range list(t, "-deps", "./"+tt.name) {
			if p.Standard {
				continue
			}
			switch {
			case strings.HasPrefix(p.name(), "drivers/"):
				t.Errorf("%q links %s", tt.name, p.ImportPath)
			case external(p.ImportPath) && !slices.ContainsFunc(tt.others, func(o string) bool { return p.ImportPath == o || strings.HasPrefix(p.ImportPath, o+"/") }):
				t.Errorf("%q links %s", tt.name, p.ImportPath)
			}
		}
	}
}

// What exists is listed where it can be seen: nothing happens by being
// imported.
func TestNothingHappensByImporting(t *testing.T) {
	for _, p := range list(t, "./...") {
		for _, f := range p.parse(t, parser.SkipObjectResolution, true) {
			for _, d := range f.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
					t.Errorf("%s has an init function", p.ImportPath)
				}
			}
			for _, spec := range f.Imports {
				path, err := strconv.Unquote(spec.Path.Value)
				if err != nil {
					t.Fatal(err)
				}
				if spec.Name != nil && spec.Name.Name == "_" && (external(path) || strings.HasPrefix(path, module+"/")) {
					t.Errorf("%s imports %s for its effects", p.ImportPath, path)
				}
			}
		}
	}
}

// Files that nobody can take in at once, and names that say nothing.
func TestOneNounAFile(t *testing.T) {
	const most = 520 // lines; about 500
	for _, p := range list(t, "./...") {
		for _, name := range slices.Concat(p.GoFiles, p.CgoFiles, p.IgnoredGoFiles, p.TestGoFiles, p.XTestGoFiles) {
			text, err := os.ReadFile(filepath.Join(p.Dir, name))
			if err != nil {
				t.Fatal(err)
			}
			if n := bytes.Count(text, []byte("\n")); n > most {
				t.Errorf("%s/%s has %d lines; at most %d", p.ImportPath, name, n, most)
			}
			switch stem := strings.TrimSuffix(strings.TrimSuffix(name, ".go"), "_test"); stem {
			case "util", "utils", "common", "helper", "helpers", "types", "misc":
				t.Errorf("%s/%s: a name that says nothing", p.ImportPath, name)
			}
		}
	}
}

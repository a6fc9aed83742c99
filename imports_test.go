package sixnines_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// module is the module's path, and the prefix of its packages.
const module = "sixnines"

// layer is a group of packages with one rule. Packages are given by patterns: *
// is one element of a path, /... a package and all below it.
type layer struct {
	name, packages string
	may            string // layers that its packages may import; own: packages below their own
	because        string
}

// layers are all packages of the module. A package is in the first layer that
// has it.
func layers() []layer {
	return []layer{
		{"vocabulary", "semantics", "", "drivers state, and files keep, what programs compare in these words"},
		{"suite", "driver/drivertest", "contract vocabulary", "the conformance suite runs in other people's modules"},
		{"virtual", "internal/engine/enginetest", "words basics contract vocabulary files judge engine actions drivers tests", "loads of driver mem are run in virtual time, for tests alone"},
		{"tests", "internal/*/*test internal/hunttest drivers/internal/*test drivers/internal/*/*test internal/jsonschema/generate", "words basics contract suite files judge brokers tests", "what tests share knows neither the engine nor a driver"},

		{"words", "internal/spell internal/secret internal/jsonschema internal/loglinear", "", "everything imports these packages, so they import nothing"},
		{"texts", "internal/strict", "words", "what is read strictly knows no format"},
		{"encodings", "internal/histograms internal/parquet internal/seal", "words", "results are read, written and judged by the same encodings, which know no result"},
		{"basics", "internal/child internal/clock internal/clocksync internal/disk internal/filelock internal/gofast internal/integrity internal/journal internal/netns internal/numbers internal/pid internal/relay internal/ring internal/selfsigned internal/stats internal/thread", "words basics", "these packages know no broker, scenario or result"},
		{"keys", "internal/keys", "", "the engine and drivers both make keys"},
		{"contract", "driver", "words vocabulary", "a driver in another module links nothing else of Sixnines"},
		{"files", "scenario result", "words texts vocabulary encodings", "a program that reads results links nothing else of Sixnines"},

		{"writing", "internal/resultfile", "files encodings", "a program that reads results does not link what writes them"},
		{"rawfiles", "internal/rawfile", "files", "a program that reads raw files does not link what reserves and maps them"},
		{"schedule", "internal/schedule internal/layout", "words files", "each follows from the scenario alone, so that verify can compute it again"},
		{"measuring", "internal/probe internal/recorder internal/transport internal/vitals", "words basics contract files schedule encodings", "each part of a run is tested without the engine"},
		{"judge", "internal/judge", "words basics files schedule encodings", "the verdict comes from records alone, so that verify finds the same in the file"},
		{"flow", "internal/engine/flow", "contract files measuring", "what is measured follows from the workload and the driver alone"},
		{"payload", "internal/engine/payload", "basics files schedule", "bodies are made before anything is sent"},
		{"prober", "internal/engine/prober", "basics contract files schedule measuring flow payload", "the probe has no code of the load that it is compared with, but for payloads"},
		{"window", "internal/engine/window", "basics", "when a run measures depends on nothing that it measures"},
		{"plan", "internal/engine/plan", "basics contract files schedule measuring flow payload window", "a plan is known before anything is connected"},
		{"observe", "internal/engine/observe", "basics contract files rawfiles measuring flow window plan", "what is noted of a message depends neither on who sends nor on who receives"},
		{"stream", "internal/engine/stream", "basics keys contract files schedule flow window plan observe", "a stream knows neither connections nor consumers"},
		{"credit", "internal/engine/credit", "basics contract files flow payload window plan observe stream", "senders take what is in flight and receivers give it back, so it knows neither; how much may be in flight it reads from the plan"},
		{"watch", "internal/engine/watch internal/engine/process", "basics contract files measuring", "what is beside the messages is watched without knowing them"},
		{"session", "internal/engine/session", "basics contract files measuring flow window plan stream", "a session is opened before anything is sent or received"},
		{"readback", "internal/engine/readback", "basics contract files measuring flow window plan observe stream session", "what the broker keeps is read without knowing what was received"},
		{"receive", "internal/engine/receive", "basics contract vocabulary files schedule measuring flow window plan observe stream credit session", "receivers know no sender: what they end in flight they give back to its credits"},
		{"send", "internal/engine/send", "words basics contract files schedule measuring flow window plan observe stream credit", "senders know no receiver, and what a delivery ends comes back by their credits"},
		{"actions", "internal/engine/actions", "basics files window", "what does an act is handed to what carries it out, which knows neither loads nor brokers"},
		{"output", "internal/engine/output", "words files writing", "records are written without knowing what they are of"},
		{"beside", "internal/engine/beside", "words basics files measuring flow window plan observe session", "the probe beside a load shares nothing with it but the broker"},
		{"churn", "internal/engine/churn", "basics contract files schedule measuring window plan observe session", "connections that come and go know nothing of the load's messages"},
		{"account", "internal/engine/account", "basics contract files schedule measuring judge flow window plan observe stream credit session receive send readback", "accounts read what senders and receivers count, and nobody reads them but the engine"},
		{"engine", "internal/engine", "words basics keys contract files schedule measuring judge flow payload window plan observe stream credit watch session receive send account actions output beside churn readback", "the engine knows no driver by name, starts no broker and shows no results"},
		{"library", "sixnines", "contract files engine", "a program that imports the library links only the drivers that it names"},
		{"chaos", "internal/chaos", "words files", "a timeline follows from a seed and its bounds alone"},
		{"series", "internal/actioncost internal/compare internal/history internal/study internal/sweep internal/trials", "words texts basics vocabulary files judge series", "runs are compared by their records alone"},
		{"reports", "internal/report internal/telemetry", "words basics vocabulary files judge series reports encodings", "a report is made from records alone, without the engine that wrote them"},

		{"published", "report", "files reports", "other modules make reports as the command does, and link no engine"},
		{"page", "internal/livepage", "basics files reports", "the page shows what is recorded, in a process that measures nothing"},

		{"model", "internal/model", "contract files drivers", "the model is compared with the engine and the judge, so it has no code of theirs"},
		{"nullbroker", "internal/nullbroker", "words basics", "the null broker is used by its driver and by what starts brokers"},
		{"network", "internal/network", "basics files", "a path is given conditions whoever uses it: it knows no broker"},
		{"brokers", "internal/brokers", "words basics nullbroker", "brokers are started without a driver"},
		{"shared", "drivers/internal/...", "contract shared vocabulary", "drivers share what they do with the contract, and nothing of the engine"},
		{"all", "drivers/all", "contract drivers", "this package only lists the drivers"},
		{"drivers", "drivers/*/...", "contract shared vocabulary keys nullbroker own", "a driver knows the contract, and neither the engine nor another driver"},

		{"faults", "internal/faults", "basics contract files actions brokers network", "what happens to a broker during a run is done by what started it; the engine knows no broker"},

		{"merge", "internal/fleet/merge", "words basics files writing schedule judge encodings", "agents' results are merged from their records alone, so that anyone can do it again"},
		{"fleetrun", "internal/fleet/fleetrun", "words basics contract files writing schedule encodings measuring judge engine prober actions window merge fleet", "a run on a fleet joins the engine, the probe, the control plane and merging, which do not know each other; the coordinator does what happens to brokers as the engine does"},
		{"fleet", "internal/fleet/...", "words basics contract files fleet", "a fleet carries plans and records, and knows neither how a run measures nor how it is judged"},

		{"selftest", "internal/selftest", "words basics contract files schedule measuring judge engine reports nullbroker brokers encodings", "the self-test needs no driver but its own"},
		{"cli", "internal/cli/...", "words basics contract files schedule measuring judge engine prober series chaos reports brokers network faults selftest merge fleet fleetrun page cli", "commands are given the drivers: only the program links them"},
		{"program", "cmd/sixnines", "cli all", "the program joins the commands and the drivers, and does nothing else"},
		{"examples", "examples/...", "library contract vocabulary files published", "examples import what users can import"},
		{"benchmarks", "benchmarks/...", "brokers benchmarks", "a reference program shares no code with what it is compared with"},
	}
}

// library is code of others, and the packages that may import it, as patterns.
type library struct{ paths, importers string }

// libraries are those of which something else than a driver is made. All others are
// client libraries, see clients.
func libraries() []library {
	return []library{
		{"golang.org/x/sys/...", "internal/clock internal/clocksync internal/disk internal/engine/send internal/engine/watch internal/netns internal/network internal/rawfile internal/selftest internal/thread/... internal/transport internal/vitals benchmarks/bareloop"},
		{"github.com/HdrHistogram/hdrhistogram-go", "internal/histograms result internal/recorder internal/selftest"},
		{"gonum.org/v1/gonum/...", "internal/stats internal/sweep"},
		{"github.com/RoaringBitmap/roaring/...", "internal/numbers"},
		{"go.yaml.in/yaml/...", "internal/strict scenario internal/study"},
		{"github.com/santhosh-tekuri/jsonschema/...", "internal/jsonschema/generate"},
		{"github.com/nats-io/nats-server/...", "internal/brokers internal/fleet/control"},
		{"github.com/nats-io/nats.go/... github.com/nats-io/nkeys github.com/nats-io/jwt/...", clients + " internal/cli internal/fleet/..."}, // the control plane of a fleet is NATS, to which commands connect
		{"github.com/twmb/franz-go/pkg/kmsg", clients + " internal/brokers"},                                                                 // the requests of Kafka's protocol, without a client
		{"github.com/prometheus/...", "internal/telemetry drivers/pulsar"},
		{"go.opentelemetry.io/... google.golang.org/protobuf/...", "internal/telemetry"}, // what is pushed, in protocol buffers
		{"git.sr.ht/~sbinet/gg/... codeberg.org/go-fonts/liberation/... golang.org/x/image/...", "internal/report"},
		{"charm.land/lipgloss/...", "internal/cli internal/report"},
		{"charm.land/bubbletea/... github.com/charmbracelet/...", "internal/cli"},
		{"github.com/spf13/...", "internal/cli/..."},
		{"golang.org/x/term", "cmd/sixnines"},
		{"github.com/vishvananda/netlink", "internal/netns internal/network"},
		{"github.com/vishvananda/netns github.com/google/nftables/...", "internal/netns"},
		{"github.com/cilium/ebpf/...", "internal/network"},
	}
}

// clients are the packages that may import client libraries.
const clients = "drivers/... benchmarks/..."

// refusal says why a package may not import another, and what to do; "" if it may.
func refusal(importer, imported string) string {
	if external(imported) {
		may := clients
		for _, l := range libraries() {
			if matches(l.paths, imported) {
				may = l.importers
			}
		}
		if matches(may, importer) {
			return ""
		}
		return fmt.Sprintf("%s imports %s, which is for %s: use it there, or change libraries in imports_test.go and say in the commit why", importer, imported, may)
	}
	of, to := layerOf(importer), layerOf(imported)
	may := strings.Fields(of.may)
	if slices.Contains(may, to.name) || slices.Contains(may, "own") && strings.HasPrefix(imported, importer+"/") {
		return ""
	}
	return fmt.Sprintf("%s imports %s, but %s: move what it needs to a layer that it may import (%s), or change its layer in imports_test.go and say in the commit why",
		importer, imported, of.because, of.may)
}

// layerOf is the layer of a package; none, without a name, for one that is in none.
func layerOf(name string) layer {
	for _, l := range layers() {
		if matches(l.packages, name) {
			return l
		}
	}
	return layer{}
}

// matches reports whether a package has one of the patterns, which spaces divide.
func matches(patterns, name string) bool {
	for pattern := range strings.FieldsSeq(patterns) {
		parts := strings.Split(name, "/")
		if above, below := strings.CutSuffix(pattern, "/..."); below {
			pattern = above
			parts = parts[:min(len(parts), strings.Count(above, "/")+1)]
		}
		if ok, err := path.Match(pattern, strings.Join(parts, "/")); ok && err == nil {
			return true
		}
	}
	return false
}

func TestForbiddenImportsAreFound(t *testing.T) {
	for _, tt := range []struct{ importer, imported, says string }{
		{"internal/report", "internal/engine", "from records alone"},
		{"internal/judge", "internal/report", "from records alone"},
		{"internal/engine", "drivers/kafka", "no driver by name"},
		{"internal/engine", "internal/brokers", "no broker"},
		{"internal/schedule", "internal/engine", "follows from the scenario alone"},
		{"internal/cli", "drivers/all", "only the program"},
		{"sixnines", "drivers/all", "the drivers that it names"},
		{"result", "internal/cli", "nothing else of Sixnines"},
		{"driver", "internal/clock", "nothing else of Sixnines"},
		{"drivers/kafka", "internal/engine", "neither the engine"},
		{"drivers/kafka", "drivers/nats", "nor another driver"},
		{"drivers/rabbitmqstream", "drivers/rabbitmq/wire", "nor another driver"},
		{"drivers/redis", "drivers/internal/resp/resptest", "contract shared"},
		{"drivers/internal/kit", "internal/clock", "nothing of the engine"},
		{"internal/spell", "internal/spell/spelltest", "import nothing"},
		{"driver", "internal/made/up", "move what it needs"},
		{"internal/engine", "github.com/nats-io/nats.go", "for drivers/..."},
		{"drivers/nats", "github.com/nats-io/nats-server/v2/server", "for internal/brokers"},
		{"internal/model", "internal/engine", "no code of theirs"},
		{"internal/model", "internal/judge", "no code of theirs"},
		{"internal/model", "internal/stats", "no code of theirs"},
		{"internal/engine", "internal/judge", ""},
		{"internal/model", "drivers/mem", ""},
		{"drivers/kafka", "internal/keys", ""},
		{"drivers/rabbitmq", "drivers/rabbitmq/wire", ""},
		{"drivers/all", "drivers/kafka", ""},
		{"drivers/madeup", "example.org/madeup/client", ""},
	} {
		if got := refusal(tt.importer, tt.imported); (got == "") != (tt.says == "") || !strings.Contains(got, tt.says) {
			t.Errorf("%s may import %s? %q; want %q in it", tt.importer, tt.imported, got, tt.says)
		}
	}
}

// listed is a package as go list describes it.
type listed struct {
	ImportPath, Dir, Doc, Export                                 string
	Standard                                                     bool
	GoFiles, CgoFiles, IgnoredGoFiles, TestGoFiles, XTestGoFiles []string
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

// external reports whether path is neither of the standard library nor ours.
func external(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return strings.Contains(first, ".")
}

// local is an import path as the layers name it, and whether the package is ours.
func local(path string) (name string, ours bool) {
	if path == module {
		return path, true
	}
	return strings.CutPrefix(path, module+"/")
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

// Every file counts, those for other systems too. A rule about nothing is out of date.
func TestImports(t *testing.T) {
	var packages, imports []string
	for _, p := range list(t, "./...") {
		importer, _ := local(p.ImportPath)
		packages = append(packages, importer)
		if strings.TrimSpace(p.Doc) == "" {
			t.Errorf("%s has no package comment", importer)
		}
		if layerOf(importer).name == "" {
			t.Errorf("%s is in no layer: put it into one in imports_test.go", importer)
			continue
		}
		for _, f := range p.parse(t, parser.ImportsOnly, false) {
			for _, spec := range f.Imports {
				imported, ours := local(strings.Trim(spec.Path.Value, "\"`"))
				if !ours && !external(imported) {
					continue
				}
				imports = append(imports, imported)
				if why := refusal(importer, imported); why != "" {
					t.Error(why)
				}
			}
		}
	}
	names := []string{"own"}
	for _, l := range layers() {
		names = append(names, l.name)
	}
	used := func(patterns string, by []string) {
		for pattern := range strings.FieldsSeq(patterns) {
			if !slices.ContainsFunc(by, func(name string) bool { return matches(pattern, name) }) {
				t.Errorf("nothing is %s any more: take it out of imports_test.go", pattern)
			}
		}
	}
	for _, l := range layers() {
		used(l.packages, packages)
		used(l.may, names)
	}
	for _, l := range libraries() {
		used(l.paths, imports)
		used(l.importers, packages)
	}
}

// Programs that contain a driver, read results or run scenarios with drivers of
// their own choice link no client library.
func TestNobodyLinksAClientUnasked(t *testing.T) {
	const hdrHistogram, sys, yaml, gonum, roaring = "github.com/HdrHistogram/... ", "golang.org/x/sys/... ", "go.yaml.in/yaml/... ", "gonum.org/v1/gonum/... ", "github.com/RoaringBitmap/... github.com/bits-and-blooms/bitset "
	for _, tt := range []struct{ packages, may string }{
		{"./driver/...", ""},
		{"./result", hdrHistogram},
		{"./scenario", yaml},
		{". ./internal/engine", hdrHistogram + sys + yaml + gonum + roaring},
	} {
		for _, p := range list(t, append([]string{"-deps"}, strings.Fields(tt.packages)...)...) {
			if name, ours := local(p.ImportPath); ours && matches("drivers/...", name) || !p.Standard && !ours && !matches(tt.may, name) {
				t.Errorf("%s links %s", tt.packages, p.ImportPath)
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
				imported, ours := local(strings.Trim(spec.Path.Value, "\"`"))
				if spec.Name != nil && spec.Name.Name == "_" && (ours || external(imported)) {
					t.Errorf("%s imports %s for its effects", p.ImportPath, imported)
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

# What continuous integration runs, by the same names: make ci is all of it.
#
#   make brokers  what the tests are run against, installed where it is absent
#   make test     the tests, against real brokers; needs Go, and installs the rest
#   make hunt     the tests that draw cases at random, HUNT cases each: a night
#   make chaos    drawn timelines of faults against all brokers, N of them: a night
#   make faults   actions on every broker, each kind: an hour
#   make kube     a fleet on a real Kubernetes on this machine; root on Linux, ten minutes the first time
#   make          the program, one static binary in bin/
#   make zeromq   the same with ZeroMQ, which needs libzmq to build and to run
#   make site     the documents as a web site with search, in bin/site; needs Python
#   make dist     programs for all systems, packages and an image, in dist/
#
# A target says what it could not do, and fails if that was not the network's
# fault.

GO       ?= go
FUZZTIME ?= 1s
# Build tags: the drivers that are bound to a library in C, where that library is.
# Looked up when it is used, since the brokers' installation may bring it.
TAGS     ?= $(shell pkg-config --exists libzmq 2>/dev/null && echo zeromq)
TAGGED    = $(if $(TAGS),-tags=$(TAGS))
# The program says its commit, where git answers here.
STAMP     = $(if $(shell git status --porcelain=v2 --branch 2>/dev/null),-buildvcs=true)
# What a release is made for, and where its files will be found: it is written into
# the formula of Homebrew. Without it they are found where they are made.
PLATFORMS   ?= linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64
RELEASE_URL ?=
# Timing is judged in tests by ratios; those of several packages at a time would
# judge each other. The command's scripts, which are run beside each other, judge
# none, and wait.
TESTING  := -count=1 -p=1 -parallel=4 -timeout=25m
# But drivers judge little of it, and wait for their brokers most of the time; and
# these compute, or count what came, whenever it came. What takes longest begins, and
# what waits is beside what computes.
PATIENT   = $(shell $(GO) list ./drivers/pulsar ./drivers/all ./internal/judge ./internal/brokers/... ./drivers/amqp10 ./internal/model \
	./drivers/jetstream ./drivers/mqtt ./drivers/rabbitmqstream ./drivers/kafka ./internal/sweep ./drivers/... ./driver/... ./result/... ./scenario/... \
	$(addprefix ./internal/,cli/manual compare engine/enginetest filelock fleet/merge integrity jsonschema/... keys loglinear report ring schedule spell/... stats study trials))
# So do these where the race detector runs: what they judge of time is left out there.
RACING    = $(shell $(GO) list ./internal/engine) $(PATIENT)
# As many at a time on two processors: most of them wait.
BESIDE   := -p=5
# Brokers in Java are started some sixty times, for seconds each: the virtual machine's
# second compiler takes more of the processors than it can give back. A start of Pulsar
# takes 8 s of them without it, and 15 with it.
QUICKJAVA := -XX:TieredStopAtLevel=1

.PHONY: module sizes hunt chaos faults kube all zeromq brokers ci fmt tidy vet staticcheck vuln build cross test race fuzz bench cover floor clean dist dist-check studies bin/release site bin/sixnines bin/sixnines-zeromq

all: bin/sixnines

# Every kind of action on every managed broker that can have it, and the stall oracle on
# each: an hour, as root on Linux.
faults: export SIXNINES_BROKERS_REQUIRED = 1
faults: export SIXNINES_FAULTS = all
faults: brokers
	$(GO) test $(TAGGED) -count=1 -timeout=4h -v -run='^(TestFaults|TestPairs|TestFaultsMatrix|TestFaultsHappen|TestInstants|TestRefusedFaults|TestFaultsNeedPrivileges|TestStallOracleOfBrokers)$$' ./internal/cli
	$(GO) test $(TAGGED) -count=1 -v -run='^TestNodeKilled$$' ./drivers/all

bin/sixnines:
	CGO_ENABLED=0 $(GO) build -trimpath $(STAMP) -o $@ ./cmd/sixnines

zeromq: bin/sixnines-zeromq

bin/sixnines-zeromq:
	CGO_ENABLED=1 $(GO) build -tags=zeromq -trimpath $(STAMP) -o $@ ./cmd/sixnines

# The brokers: Debian's packages, as root or by sudo, and the rest below the
# user's cache directory. What is here is left alone. Nobody is asked.
brokers:
	$(GO) run ./cmd/sixnines broker install --all --yes

# The tests come last, so that their output ends the log.
ci: PLATFORMS = linux/$(shell $(GO) env GOARCH)
ci: SHARED = cache
ci: fmt tidy brokers vet staticcheck vuln build cross dist-check floor bench studies fuzz race test

fmt:
	@wrong=$$(gofmt -l .); if [ -n "$$wrong" ]; then echo "gofmt -w these:"; echo "$$wrong"; exit 1; fi

# go.mod and go.sum say what is used and no more, and the modules are those.
tidy:
	$(GO) mod tidy -diff
	$(GO) mod verify
	$(GO) -C tools mod tidy -diff
	$(GO) -C tools mod verify

# The check of calls into C opens the files of the clone in which the cache has compiled
# them, which may be gone; Go's runtime checks these calls, too.
vet:
	$(GO) vet $(if $(TAGS),-cgocall=false) $(TAGGED) ./...

staticcheck:
	$(GO) tool staticcheck $(TAGGED) ./...
	cd tools && $$($(GO) -C .. tool -n staticcheck) ./...

vuln:
	@.ci/vuln

build:
	$(GO) build $(TAGGED) ./...

# Other systems: that it builds, and where tests use no signals of Unix's that
# their tests compile, too.
cross:
	GOOS=darwin GOARCH=arm64 CGO_ENABLED=0 $(GO) vet ./...
	GOOS=linux GOARCH=arm64 CGO_ENABLED=0 $(GO) build ./...
	GOOS=windows CGO_ENABLED=0 $(GO) build ./...

# The site: of the documents as they are; a broken link fails it. Python's packages
# are fetched once, those whose sums are known.
site: bin/site-tools/ready
	NO_MKDOCS_2_WARNING=1 bin/site-tools/bin/mkdocs build --strict -f tools/site/mkdocs.yml
	@echo "open bin/site/index.html"

bin/site-tools/ready: tools/site/requirements.txt
	@python3 -m venv --clear bin/site-tools || { echo "make site needs python3 with venv: install python3-venv" >&2; exit 1; }
	@bin/site-tools/bin/pip install --quiet --disable-pip-version-check --require-hashes -r $< || { echo "make site needs the packages that $< names" >&2; exit 1; }
	@touch $@

# DuckDB, which reads the Parquet files of a test; its sums are known.
bin/notebook-tools/ready: tools/notebook/requirements.txt
	@.ci/notebook
	@touch $@

# A release of HEAD, see docs/install.md. What makes it is a module of its own.
dist: bin/release
	bin/release -root . -out dist -platforms '$(PLATFORMS)' -url '$(RELEASE_URL)'

bin/release:
	@CGO_ENABLED=0 $(GO) -C tools build -o ../$@ ./release || { echo "make dist needs the Go modules that tools/go.mod names" >&2; exit 1; }

# A release made twice, in two directories: not a byte may differ. And the image
# runs. The second time nothing is compiled yet, unless SHARED is set: CI links and
# packs again only.
dist-check: bin/release
	$(GO) -C tools vet ./...
	$(GO) -C tools test ./...
	rm -rf bin/dist
	bin/release -root . -out bin/dist/one -platforms '$(PLATFORMS)' -url file:///dist $(if $(filter linux,$(shell $(GO) env GOOS)),-try)
	$(if $(SHARED),,GOCACHE=$(CURDIR)/bin/dist/cache) bin/release -root . -out bin/dist/two -platforms '$(PLATFORMS)' -url file:///dist
	cmp bin/dist/one/SHA256SUMS bin/dist/two/SHA256SUMS
	cd bin/dist/one && sha256sum --check --quiet SHA256SUMS
	rm -rf bin/dist

# Compiled by all processors first, then linked and run. A broker, or a
# browser, that is not here would make tests skip: where that is not wanted, it is
# a failure.
test: export SIXNINES_BROKERS_REQUIRED = 1
test: export JAVA_TOOL_OPTIONS = $(QUICKJAVA)
test: brokers
	@.ci/browser
	@.ci/prometheus
	@.ci/iptables
	@$(MAKE) --no-print-directory bin/notebook-tools/ready || echo "NOT TESTED: Parquet files, since DuckDB cannot be fetched"
	$(GO) list $(TAGGED) -export -test ./... >/dev/null
	.ci/gotest $(TAGGED) $(TESTING) $(BESIDE) $(PATIENT)
	.ci/gotest $(TAGGED) $(TESTING) $(filter-out $(PATIENT),$(shell $(GO) list ./...))

# How large the program is, and what is in it: the table in docs/install.md.
sizes:
	@tools/release/sizes

# Another module path for the whole tree, for whoever publishes it: make module AS=example.com/me/sixnines
module:
	cd tools && $(GO) run ./module -root .. '$(AS)'

# What continuous integration has a sample of, at length: scenarios against a model of
# the method, gates, intervals, forged results, refusals, and what simulations promise.
# HUNT is how many cases each draws, at most as many as it has.
HUNT ?= 10000
hunt: brokers
	SIXNINES_HUNT=$(HUNT) $(GO) test $(TAGGED) -count=1 -p=1 -timeout=12h -v \
		-run='Hunt|Forgeries|Simulat|Cover|FalseAlarms|Power|Theory|ByChance|WhereTheyStop|DoesNotBend|Repeatable|ShortRuns' ./internal/... ./drivers/...

# N timelines of actions drawn by seeds from SEED on, over all brokers in turn: each run has every message in one
# account, agrees with its records and leaves nothing behind, or is kept in bin/chaos with its seed. Needs Linux and root.
# BROKERS=kafka-3,nats are those that are wanted.
N    ?= 100
SEED ?= 1
chaos: brokers bin/sixnines
	SIXNINES_CHAOS=$(N) SIXNINES_CHAOS_SEED=$(SEED) SIXNINES_CHAOS_BROKERS=$(BROKERS) SIXNINES_CHAOS_PROGRAM=$(CURDIR)/bin/sixnines \
		SIXNINES_CHAOS_DIR=$(CURDIR)/bin/chaos $(GO) test -count=1 -timeout=24h -v -run=TestNight ./internal/chaos

# A fleet of HEAD's image on a Kubernetes of two nodes, which is built once, below the user's cache directory, and is gone
# after the trial with all that it made. Needs Linux, root and Debian's packages. Results are in bin/kube/out.
kube: brokers bin/release
	rm -rf bin/kube/release
	bin/release -root . -out bin/kube/release -platforms linux/$(shell $(GO) env GOARCH)
	rm -rf bin/kube/program && mkdir -p bin/kube/program
	tar -xzf bin/kube/release/*_linux_*.tar.gz -C bin/kube/program --strip-components=1
	CGO_ENABLED=0 $(GO) -C tools build -o ../bin/kube/kube ./kube
	bin/kube/kube -image "$$(echo bin/kube/release/*_oci.tar)" -sixnines bin/kube/program/sixnines -out bin/kube/out

# Variants of what was already tried are left out, and packages in which nothing
# runs beside anything else: they would be slow here.
# Under the race detector five packages at a time would starve each other.
race: BESIDE := -p=3
race: RACY = $(shell $(GO) list ./... | grep -v -E '/(judge|stats|compare|study|sweep|model|report|schedule|scenario|result)$$')
race: export JAVA_TOOL_OPTIONS = $(QUICKJAVA)
race: brokers
	@.ci/compiler
	CGO_ENABLED=1 $(GO) list $(TAGGED) -race -export -test $(RACY) >/dev/null
	CGO_ENABLED=1 .ci/gotest $(TAGGED) -race -short $(TESTING) $(BESIDE) $(filter $(RACY),$(RACING))
	CGO_ENABLED=1 .ci/gotest $(TAGGED) -race -short $(TESTING) $(filter-out $(RACING),$(RACY))

# Every fuzz target there is, each for a short while.
fuzz:
	@.ci/fuzz $(FUZZTIME)

# That benchmarks run, not what they measure.
bench:
	$(GO) test $(TAGGED) -run='^$$' -bench=. -benchtime=20ms -p=1 ./...

# Two studies, as short as they get, to their pages. What they find is not judged: the
# exit code 3 says that a conclusion is not decided, or disagrees.
studies: bin/sixnines
	rm -rf bin/studies
	for s in so-you-wanna-go-fast latency-is-wrong; do \
		bin/sixnines study run $$s --quick --replace 0 --quiet --out bin/studies || [ $$? = 3 ] || exit 1; done
	for d in bin/studies/*/; do test -s $${d}study.html && test -s $${d}study.md && test -s $${d}study.csv || exit 1; done
	rm -rf bin/studies

cover: brokers
	$(GO) test $(TAGGED) $(TESTING) -coverpkg=./... -coverprofile=cover.out ./...
	$(GO) tool cover -func=cover.out | tail -1

# The reference client in C and the programs that pair it, without a quiet
# machine: they compile, and compute what they should.
floor:
	@.ci/compiler
	@.ci/python
	$(MAKE) -C benchmarks BIN=$(CURDIR)/bin/benchmarks test

clean:
	rm -rf bin cover.out

# What continuous integration runs, by the same names: make ci is all of it.
#
#   make brokers  what the tests are run against, installed where it is absent
#   make test     the tests, against real brokers; needs Go, and installs the rest
#   make          the program, one static binary in bin/
#   make zeromq   the same with ZeroMQ, which needs libzmq to build and to run
#
# A target says what it could not do, and fails if that was not the network's
# fault.

GO       ?= go
FUZZTIME ?= 1s
# Build tags: the drivers that are bound to a library in C, where that library is.
# Looked up when it is used, since the brokers' installation may bring it.
TAGS     ?= $(shell pkg-config --exists libzmq 2>/dev/null && echo zeromq)
TAGGED    = $(if $(TAGS),-tags=$(TAGS))
# Timing is judged in tests by ratios; those of several packages at a time would
# judge each other.
TESTING  := -count=1 -p=1 -timeout=15m
# But drivers judge little of it, and wait for their brokers most of the time.
PATIENT   = $(filter-out %/all,$(shell $(GO) list ./internal/brokers/... ./drivers/...))

.PHONY: all zeromq brokers ci fmt tidy vet staticcheck vuln build cross test race fuzz bench cover floor clean bin/sixnines bin/sixnines-zeromq

all: bin/sixnines

bin/sixnines:
	CGO_ENABLED=0 $(GO) build -trimpath -o $@ ./cmd/sixnines

zeromq: bin/sixnines-zeromq

bin/sixnines-zeromq:
	CGO_ENABLED=1 $(GO) build -tags=zeromq -trimpath -o $@ ./cmd/sixnines

# The brokers: Debian's packages, as root or by sudo, and the rest below the
# user's cache directory. What is here is left alone. Nobody is asked.
brokers:
	$(GO) run ./cmd/sixnines broker install --all --yes

# The tests come last, so that their output ends the log.
ci: fmt tidy brokers vet staticcheck vuln build cross floor bench fuzz race test

fmt:
	@wrong=$$(gofmt -l .); if [ -n "$$wrong" ]; then echo "gofmt -w these:"; echo "$$wrong"; exit 1; fi

# go.mod and go.sum say what is used and no more, and the modules are those.
tidy:
	$(GO) mod tidy -diff
	$(GO) mod verify

vet:
	$(GO) vet $(TAGGED) ./...

staticcheck:
	$(GO) tool staticcheck $(TAGGED) ./...

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

# Compiled by all processors first, then run a package at a time. A broker, or a
# browser, that is not here would make tests skip: where that is not wanted, it is
# a failure.
test: export SIXNINES_BROKERS_REQUIRED = 1
test: brokers
	@.ci/browser
	$(GO) test $(TAGGED) -c -o /dev/null ./...
	.ci/gotest $(TAGGED) $(TESTING) -p=2 $(PATIENT)
	.ci/gotest $(TAGGED) $(TESTING) $(filter-out $(PATIENT),$(shell $(GO) list ./...))

# Variants of what was already tried are left out, and packages in which nothing
# runs beside anything else: they would be slow here.
race: RACY = $(shell $(GO) list ./... | grep -v -E '/(judge|stats|sweep|report|schedule|scenario|result)$$')
race: brokers
	@.ci/compiler
	CGO_ENABLED=1 $(GO) test $(TAGGED) -race -c -o /dev/null $(RACY)
	CGO_ENABLED=1 .ci/gotest $(TAGGED) -race -short $(TESTING) -p=2 $(PATIENT)
	CGO_ENABLED=1 .ci/gotest $(TAGGED) -race -short $(TESTING) $(filter-out $(PATIENT),$(RACY))

# Every fuzz target there is, each for a short while.
fuzz:
	@.ci/fuzz $(FUZZTIME)

# That benchmarks run, not what they measure.
bench:
	$(GO) test $(TAGGED) -run='^$$' -bench=. -benchtime=20ms -p=1 ./...

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

# What continuous integration runs, by the same names: make ci is all of it.
#
#   make test     the tests; needs Go and nothing else
#   make          the program, in bin/
#
# A target says what it could not do, and fails if that was not the network's
# fault.

GO       ?= go
FUZZTIME ?= 5s
# Timing is judged in tests by ratios; those of several packages at a time would
# judge each other.
TESTING  := -count=1 -p=1 -timeout=15m

.PHONY: all ci fmt tidy vet staticcheck vuln build cross test race fuzz bench cover floor clean bin/sixnines

all: bin/sixnines

bin/sixnines:
	$(GO) build -trimpath -o $@ ./cmd/sixnines

# The tests come last, so that their output ends the log.
ci: fmt tidy vet staticcheck vuln build cross floor bench fuzz race test

fmt:
	@wrong=$$(gofmt -l .); if [ -n "$$wrong" ]; then echo "gofmt -w these:"; echo "$$wrong"; exit 1; fi

# go.mod and go.sum say what is used and no more, and the modules are those.
tidy:
	$(GO) mod tidy -diff
	$(GO) mod verify

vet:
	$(GO) vet ./...

staticcheck:
	$(GO) tool staticcheck ./...

vuln:
	@.ci/vuln

build:
	$(GO) build ./...

# Other systems: that it builds, and where tests use no signals of Unix's that
# their tests compile, too.
cross:
	GOOS=darwin GOARCH=arm64 CGO_ENABLED=0 $(GO) vet ./...
	GOOS=linux GOARCH=arm64 CGO_ENABLED=0 $(GO) vet ./...
	GOOS=darwin CGO_ENABLED=0 $(GO) build ./...
	GOOS=windows CGO_ENABLED=0 $(GO) build ./...

# Compiled by all processors first, then run a package at a time.
test:
	$(GO) test -c -o /dev/null ./...
	$(GO) test $(TESTING) ./...

race:
	@.ci/compiler
	CGO_ENABLED=1 $(GO) test -race -c -o /dev/null ./...
	CGO_ENABLED=1 $(GO) test -race $(TESTING) ./...

# Every fuzz target there is, each for a short while.
fuzz:
	@.ci/fuzz $(FUZZTIME)

# That benchmarks run, not what they measure.
bench:
	$(GO) test -run='^$$' -bench=. -benchtime=20ms -p=1 ./...

cover:
	$(GO) test $(TESTING) -coverpkg=./... -coverprofile=cover.out ./...
	$(GO) tool cover -func=cover.out | tail -1

# The reference client in C and the programs that pair it, without a quiet
# machine: they compile, and compute what they should.
floor:
	@.ci/compiler
	@.ci/python
	$(MAKE) -C benchmarks BIN=$(CURDIR)/bin/benchmarks test

clean:
	rm -rf bin cover.out

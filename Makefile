# gclog. "make help" lists the targets.

GO       ?= go
VERSION  ?= $(shell sed -n 's/^## \([0-9][^ ]*\).*/\1/p' CHANGELOG.md | head -n 1)
BUILD     = CGO_ENABLED=0 $(GO) build -trimpath -tags urfave_cli_no_docs \
            -ldflags "-s -w -X github.com/gclog/gclog/internal/cli.linkedVersion=$(VERSION)"
PLATFORMS = linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64
# A number of inputs, not a time: with a time limit the fuzzing engine may report reaching the limit
# as a failure (golang/go#75804, fixed in Go 1.27).
FUZZRUNS ?= 2000000
BENCHTIME ?= 1s
# For make mutate: how many changes it tries in each package (0: all), the seed that selects them
# (0: random), and the packages (none: all that it supports).
MUTATIONS ?= 100
SEED ?= 0
MUTATE ?=
# For make bench-heap: how many rounds, and of which graphs: 0.1, 1, 10 and 12 million objects.
HEAP ?= 5 0.1 1 10 12
# How long make soak runs.
DURATION ?= 2h
# The packages with fuzz targets.
FUZZ      = ./parse ./parse/clr ./gclog ./gclog/heap ./formats ./formats/logs ./session ./internal/config ./internal/accesslog

OUT      ?= bin/gclog

.PHONY: build test race fuzz bench bench-daemon bench-overhead bench-heap lint live harmless harmless-part bin/harmless.test java ship report-test report-shots demo golden platforms package deploy-test soak mutate calibrate clean help

build: ## build bin/gclog
	$(BUILD) -o $(OUT) .

# A plain "go build" would write the binary to the package folder gclog/, so every target names its
# output.

# Four at a time: slow tests spend most of their time waiting.
test: ## all tests; those that need more than the repository contains are skipped by name
	$(GO) test -parallel 4 ./...

race: ## all tests with the race detector, which needs cgo
	CGO_ENABLED=1 $(GO) test -race -short -parallel 4 ./...

fuzz: ## each fuzz target with FUZZRUNS inputs
	@for pkg in $(FUZZ); do \
	  for target in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz'); do \
	    echo "$$pkg $$target"; $(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZRUNS)x $$pkg || exit 1; \
	  done; done
	@# Each input starts a whole daemon. Coverage by threads is random, so minimizing is pointless.
	$(GO) test -run '^$$' -fuzz '^FuzzNeighbours$$' -fuzztime $$(($(FUZZRUNS) / 50))x -fuzzminimizetime 1x ./internal/daemon

bench: ## benchmarks: reader, decoder, reducer, formatters, and the whole program
	$(GO) test -run '^$$' -bench . -benchmem -benchtime $(BENCHTIME) $(BENCHFLAGS) ./parse/... ./gclog/... ./formats/... ./session ./internal/attach ./internal/accesslog .

bench-daemon: build ## measure the daemon's cost on nodes with up to 500 fake processes (Linux)
	$(GO) run ./internal/testing/fakenode/bench bin/gclog

bench-overhead: build ## measure the throughput that a real program loses while the daemon watches it (Linux)
	$(GO) run ./internal/testing/gcload/overhead bin/gclog

bench-heap: build ## measure heap snapshots of up to 12 million objects, side by side with the raw stream (Linux)
	$(GO) run ./internal/testing/gcload/snapshots bin/gclog $(HEAP)

lint: ## static checks, with the tools of tools/go.mod
	@test -z "$$(gofmt -l .)" || { gofmt -l .; exit 1; }
	$(GO) vet ./...
	$(GO) tool -modfile=tools/go.mod golangci-lint run

live: ## attach to every available runtime and GC flavour
	GCLOG_LIVE=all $(GO) test -count 1 -timeout 20m -run '^TestLive' -v .

harmless: bin/harmless.test ## check that gclog harms no program: every triple of runtime, start, action, moment... (Linux)
	cd internal/testing/harmless && GCLOG_HARMLESS=all ../../../bin/harmless.test -test.timeout 60m -test.run '^TestHarmless$$'

harmless-part: bin/harmless.test ## run make harmless for a minute, with a random seed
	cd internal/testing/harmless && GCLOG_HARMLESS=part ../../../bin/harmless.test -test.timeout 10m -test.run '^TestHarmless$$'

bin/harmless.test:
	$(GO) test -c -o $@ ./internal/testing/harmless

java: ## check the JDK formats with GCViewer and GCToolKit; needs a JDK (17 or later) and Maven
	mvn -q -B -f testdata/java/pom.xml process-classes
	GCLOG_JAVA=$(CURDIR)/bin/java $(GO) test -count 1 -run '^TestJava' ./formats

ship: ## test real shippers with rotated logs; needs rsyslog, and a collector's modules, which build in 3 minutes
	@cd testdata/otelcol && if $(GO) list -deps . >/dev/null; then \
	  $(GO) build -trimpath -ldflags "-s -w" -o ../../bin/otelcol .; else \
	  echo "no collector: its modules cannot be had"; fi
	GCLOG_SHIP=1 $(GO) test -count 1 -run '^TestShip' -v .

# npm ci installs what testdata/report/package-lock.json says, by its checksums.
report-test: ## use the pages of gclog report in Chromium; needs Node 18 or later, npm and Chromium
	cd testdata/report && npm ci --ignore-scripts --no-audit --no-fund --silent
	GCLOG_BROWSER=$$(command -v chromium || command -v chromium-browser || command -v google-chrome) \
	  $(GO) test -count 1 -timeout 10m -run '^TestBrowser' -v ./internal/report

report-shots: build ## take the screenshots of docs/report.md; look at each before you commit it
	cd testdata/report && npm ci --ignore-scripts --no-audit --no-fund --silent
	GCLOG_BROWSER=$$(command -v chromium || command -v chromium-browser || command -v google-chrome) \
	  node testdata/report/shots.mjs bin/gclog docs/images

soak: ## test the daemon with random histories and all faults for DURATION, up to the first failure (Linux)
	$(GO) test -c -o bin/soak.test ./internal/testing/fakenode/check
	cd internal/testing/fakenode/check && GCLOG_SOAK=$(DURATION) ../../../../bin/soak.test -test.timeout 0 -test.failfast -test.run '^(TestComingAndGoing|TestLiveStandstill|TestSoak)$$'

mutate: ## change one token of the code at a time and check that a test notices
	$(GO) run ./internal/mutate -n $(MUTATIONS) -seed $(SEED) $(MUTATE)

calibrate: build ## record real runtimes for 2 minutes each, and check with them how often gclog compare is wrong
	$(GO) run ./internal/testing/gcload/long $(OUT) bin/long
	GCLOG_CALIBRATE='$(CURDIR)/bin/long/*.nettrace.gz' $(GO) test -count 1 -run '^TestCalibration$$' -v ./gclog/analysis

demo: build ## attach to a real .NET process under load, and show the log
	$(GO) run ./internal/testing/gcload/demo bin/gclog

golden: ## rewrite the golden files; read the difference before you commit it
	GCLOG_UPDATE=1 $(GO) test ./...

platforms: ## build for every platform, and check that its tests compile
	@for p in $(PLATFORMS); do echo $$p; GOOS=$${p%/*} GOARCH=$${p#*/} $(BUILD) -o /dev/null . || exit 1; done
	GOOS=darwin $(GO) vet ./...
	GOOS=windows $(GO) vet ./...

package: ## archives for every platform, deb, rpm and apk for Linux, in bin/dist
	GO="$(GO)" VERSION="$(VERSION)" packaging/package.sh $(PLATFORMS)

deploy-test: ## check packages, units and manifests with the programs that read them
	$(MAKE) -s package PLATFORMS=linux/amd64
	GCLOG_DIST=$(CURDIR)/bin/dist $(GO) test -count 1 -run '^TestDeploy' -v .
	cd testdata/deploy && $(GO) test -count 1 ./...

clean: ## remove what was built
	rm -rf bin

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' Makefile | expand -t 16

# gclog. "make help" lists the targets.

GO       ?= go
VERSION  ?= $(shell sed -n 's/^## \([0-9][^ ]*\).*/\1/p' CHANGELOG.md | head -n 1)
FLAGS     = -trimpath -tags urfave_cli_no_docs
BUILD     = CGO_ENABLED=0 $(GO) build $(FLAGS) \
            -ldflags "-s -w -X github.com/gclog/gclog/internal/cli.linkedVersion=$(VERSION)"
VET       = CGO_ENABLED=0 $(GO) vet $(FLAGS)
PLATFORMS = linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64
# A number of inputs, not a time: with a time limit the fuzzing engine may report reaching the limit
# as a failure (golang/go#75804, fixed in Go 1.27). Nor are inputs minimized for a time: up to a
# minute for each that is new.
FUZZRUNS ?= 2000000
BENCHTIME ?= 1s
# For make test and make check: which packages, those first that wait longest, and more arguments for go test.
PKG ?= ./internal/testing/fakenode/check ./internal/e2e/live . ./...
TESTFLAGS ?=
# For make flakes: how many rounds without a failure, of which packages.
ROUNDS ?= 10
PACKAGES ?= ./...
# For make mutate: how many changes it tries in each package (0: all), the seed that selects them
# (0: random), and the packages (none: all that it supports).
MUTATIONS ?= 100
SEED ?= 0
MUTATE ?=
# For make bench-heap: how many rounds, and of which graphs: 0.1, 1, 10 and 12 million objects.
HEAP ?= 5 0.1 1 10 12
# For make fleet: which engines, duckdb or engines (all of them: 450 MB).
ENGINES ?= engines
# The Prometheus of make metrics-test.
PROMETHEUS ?= prometheus
# The tests that make live leaves out.
SKIP ?= ^$$
# How long make calibrate records each program. On virtual machines pauses are a third longer for 10 to
# 20 s now and then, and halves of a short recording with few such times differ.
LENGTH ?= 6m
# How long make soak runs.
DURATION ?= 2h
# The packages with fuzz targets.
FUZZ      = ./parse ./parse/clr ./gclog ./gclog/heap ./gclog/heap/ecma335 ./gclog/heap/nativeaot ./gclog/stacks ./formats ./formats/logs ./session ./internal/config ./internal/host ./internal/accesslog ./internal/condition ./internal/flight ./internal/parquet

OUT      ?= bin/gclog

.PHONY: metrics-test metrics-test-newest build test check again race flakes times fuzz bench bench-daemon bench-overhead bench-heap lint live harmless harmless-part bin/harmless.test java ship fleet bench-fleet report-test report-shots demo golden platforms package deploy-test soak endure hostile hostile-part mutate calibrate clean help

build: ## build bin/gclog
	$(BUILD) -o $(OUT) .

# A plain "go build" would write the binary to the package folder gclog/, so every target names its
# output.

# Four packages at a time, and four tests of each: slow ones spend most of their time waiting. In CI, and in
# make again, what fails leaves what it started in bin/artifacts.
GOTEST = bin/gotest -p=4 -parallel=4 $(if $(CI),-artifacts -outputdir=$(CURDIR)/bin/artifacts) $(TESTFLAGS)

test: bin/gotest ## the tests, of PKG: what needs more than the repository or minutes is skipped by name
	@$(GOTEST) $(PKG)

# The histories are run on their own: beside everything else, their processes and the daemon wait for a processor
# longer than a handover between two sessions takes on any host that is not starved.
check: bin/gotest ## all tests: also the recordings and runtimes of ../shared, long histories, big inputs
	@GCLOG_TEST=full $(GOTEST) -count=1 -timeout=20m $(if $(filter ./...,$(PKG)),$$($(GO) list $(PKG) | grep -v /fakenode/check),$(PKG))
	@$(if $(filter ./...,$(PKG)),GCLOG_TEST=full $(GOTEST) -count=1 -timeout=20m ./internal/testing/fakenode/check)

again: bin/gotest ## run what failed in the last run once more, with its seeds
	@bin/gotest -again

# The packages whose own code shares memory between goroutines, and the test that runs the whole daemon.
race: bin/gotest ## the short tests with the race detector, which needs cgo
	@CGO_ENABLED=1 $(GOTEST) -race -short ./internal/testing/fakenode/check \
	  $$(grep -rlE --include='*.go' --exclude='*_test.go' --exclude-dir=testdata --exclude-dir=tools --exclude-dir=bin --exclude-dir=testing --exclude-dir=mutate --exclude-dir=fakeruntime '^\s*go |\.Go\(|"sync(/atomic)?"$$' . | xargs -n 1 dirname | sort -u)

flakes: bin/gotest ## run the tests of PACKAGES under load until the last ROUNDS have no failure; goes on where it was stopped
	@bin/gotest -flakes $(ROUNDS) $(PACKAGES)

bin/gotest: FORCE
	@mkdir -p bin/artifacts && $(GO) build -o $@ ./internal/testing/gotest

# .ci/run times its stages.
times: ## rewrite .ci/times.tsv from the last .ci/run
	$(GO) run ./internal/testing/stages write

FORCE:

fuzz: ## each fuzz target with FUZZRUNS inputs
	@for pkg in $(FUZZ); do \
	  for target in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz'); do \
	    echo "$$pkg $$target"; $(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZRUNS)x -fuzzminimizetime 100x $$pkg || exit 1; \
	  done; done
	@# Each input starts a whole daemon. Coverage by threads is random, so minimizing is pointless.
	$(GO) test -run '^$$' -fuzz '^FuzzNeighbours$$' -fuzztime $$(($(FUZZRUNS) / 50))x -fuzzminimizetime 1x ./internal/daemon

bench: ## benchmarks: reader, decoder, reducer, formatters, and the whole program
	$(GO) test -run '^$$' -bench . -benchmem -benchtime $(BENCHTIME) $(BENCHFLAGS) ./parse/... ./gclog/... ./formats/... ./internal/host ./internal/attach ./internal/accesslog ./internal/flight ./internal/parquet ./internal/e2e/bench

bench-daemon: build ## measure the cost of the daemon on nodes with up to 500 fake processes, and of top with 20 (Linux)
	$(GO) run ./internal/testing/fakenode/bench bin/gclog

bench-overhead: build ## measure the throughput that a real program loses while the daemon watches it (Linux)
	$(GO) run ./internal/testing/gcload/overhead bin/gclog

bench-fleet: build ## measure how fast the logs of a fleet become Parquet, and in how much memory (Linux)
	$(GO) run ./internal/testing/fleet/bench bin/gclog

bench-heap: build ## measure heap snapshots of up to 12 million objects, side by side with the raw stream (Linux)
	$(GO) run ./internal/testing/gcload/snapshots bin/gclog $(HEAP)

lint: ## static checks, with the tools of tools/go.mod and tools/actionlint/go.mod
	@test -z "$$(gofmt -l .)" || { gofmt -l .; exit 1; }
	$(GO) vet ./...
	$(GO) tool -modfile=tools/go.mod golangci-lint run
	$(GO) tool -modfile=tools/actionlint/go.mod actionlint

live: bin/gotest ## attach to every available runtime and GC flavour
	@GCLOG_LIVE=all $(GOTEST) -count=1 -timeout=20m -run='^TestLive' -skip='$(SKIP)' ./internal/e2e/live

harmless: bin/harmless.test ## check that gclog harms no program: every triple of runtime, start, action, moment... (Linux)
	cd internal/testing/harmless && GCLOG_HARMLESS=all ../../../bin/harmless.test -test.timeout 60m -test.run '^TestHarmless$$'

harmless-part: bin/harmless.test ## run make harmless for a minute, with a random seed
	cd internal/testing/harmless && GCLOG_HARMLESS=part ../../../bin/harmless.test -test.timeout 10m -test.run '^TestHarmless$$'

bin/harmless.test:
	$(GO) test -c -o $@ ./internal/testing/harmless

java: bin/gotest ## check the JDK formats with GCViewer and GCToolKit; needs a JDK (17 or later) and Maven
	mvn -q -B -f testdata/java/pom.xml process-classes
	@GCLOG_JAVA=$(CURDIR)/bin/java $(GOTEST) -count=1 -run='^TestJava' ./formats

ship: bin/gotest ## test real shippers with rotated logs, and a collector with OTLP; needs rsyslog, and a collector's modules, which build in 3 minutes
	@cd testdata/otelcol && if $(GO) list -deps . >/dev/null; then \
	  $(GO) build -trimpath -ldflags "-s -w" -o ../../bin/ . ./broker; else \
	  echo "no collector: its modules cannot be had"; fi
	@GCLOG_SHIP=1 $(GOTEST) -count=1 -run='^TestShip' ./internal/e2e/ship

metrics-test: bin/gotest ## have Prometheus scrape the daemon, and compare what it has stored with the logs; needs Prometheus
	@GCLOG_PROMETHEUS=$(PROMETHEUS) $(GOTEST) -count=1 -run='^TestPrometheus' ./internal/e2e/metrics

# It has some 250 modules, which build in 4 minutes on two cores.
metrics-test-newest: ## make metrics-test with the newest Prometheus, which it builds from its modules
	cd testdata/prometheus && CGO_ENABLED=0 $(GO) build -trimpath -tags remove_all_sd -ldflags "-s -w" -o ../../bin/prometheus/ \
	  github.com/prometheus/prometheus/cmd/prometheus github.com/prometheus/prometheus/cmd/promtool
	PATH="$(CURDIR)/bin/prometheus:$$PATH" $(MAKE) metrics-test PROMETHEUS=$(CURDIR)/bin/prometheus/prometheus

# pip installs what testdata/fleet/*.txt say, by their checksums.
fleet: bin/gotest ## ask the questions of samples/fleet in DuckDB, ClickHouse and Spark; needs Python 3.11 or later, and a JDK (17) for Spark
	python3 -m venv bin/fleet
	bin/fleet/bin/pip -q --disable-pip-version-check install --require-hashes --no-deps --only-binary duckdb,chdb,chdb-core,numpy,pandas,pyarrow -r testdata/fleet/$(ENGINES).txt
	@GCLOG_FLEET_PYTHON=$(CURDIR)/bin/fleet/bin/python $(GOTEST) -count=1 -timeout=20m -run='^TestFleet$$' ./internal/e2e/fleet

# npm ci installs what testdata/report/package-lock.json says, by its checksums.
report-test: bin/gotest ## use the pages of gclog report in Chromium; needs Node 18 or later, npm and Chromium
	cd testdata/report && npm ci --ignore-scripts --no-audit --no-fund --silent
	GCLOG_BROWSER=$$(command -v chromium || command -v chromium-browser || command -v google-chrome) \
	  $(GOTEST) -count=1 -timeout=10m -run='^TestBrowser' ./internal/report

report-shots: build ## take the screenshots of docs/report.md; look at each before you commit it
	cd testdata/report && npm ci --ignore-scripts --no-audit --no-fund --silent
	GCLOG_BROWSER=$$(command -v chromium || command -v chromium-browser || command -v google-chrome) \
	  node testdata/report/shots.mjs bin/gclog docs/images

soak: ## test the daemon with random histories and all faults for DURATION, up to the first failure (Linux)
	$(GO) test -c -o bin/soak.test ./internal/testing/fakenode/check
	cd internal/testing/fakenode/check && GCLOG_SOAK=$(DURATION) ../../../../bin/soak.test -test.timeout 0 -test.failfast -test.run '^(TestComingAndGoing|TestLiveStandstill|TestSoak)$$'

# A pid namespace: the daemon logs every program that it sees. bash ends what the test leaves there.
endure: ## run the daemon as root for DURATION beside crashes, hostile programs, full disks, kills and a flaky collector (Linux)
	$(GO) test -c -o bin/endure.test ./internal/e2e/endure
	mkdir -p bin/artifacts
	cd internal/e2e/endure && GCLOG_ENDURE=$(DURATION) unshare --pid --mount --fork --kill-child --mount-proc \
	  bash -c '../../../bin/endure.test -test.v $(if $(CI),-test.artifacts -test.outputdir=$(CURDIR)/bin/artifacts) -test.timeout 0 -test.run "^TestEndure$$"; exit $$?'

hostile: bin/gotest ## attack gclog with every script of testdata/hostile, as root, and print a table (Linux)
	@GCLOG_HOSTILE=all $(GOTEST) -count=1 -timeout=60m -run='^TestHostile$$' ./internal/e2e/hostile; code=$$?; cat bin/hostile.txt; exit $$code

hostile-part: bin/gotest ## run make hostile for a minute, with a random seed
	@GCLOG_HOSTILE=part $(GOTEST) -count=1 -timeout=20m -run='^TestHostile$$' ./internal/e2e/hostile; code=$$?; cat bin/hostile.txt; exit $$code

mutate: ## change one token of the code at a time and check that a test notices
	$(GO) run ./internal/mutate -n $(MUTATIONS) -seed $(SEED) $(MUTATE)

calibrate: build ## record real runtimes for LENGTH each, and check with them how often gclog compare is wrong
	$(GO) run ./internal/testing/gcload/long $(OUT) bin/long $(LENGTH)
	GCLOG_TEST=full GCLOG_CALIBRATE='$(CURDIR)/bin/long/*.nettrace.gz' $(GO) test -count 1 -run '^Test(Calibration|Simulated)$$' -v ./gclog/analysis

demo: build ## attach to a real .NET process under load, and show the log; RUNTIME: another one than the repository's
	$(GO) run ./internal/testing/gcload/demo bin/gclog $(RUNTIME)

golden: ## rewrite the golden files; read the difference before you commit it
	cd testdata/deploy && GCLOG_UPDATE=1 $(GO) test ./grafana ./kibana
	GCLOG_UPDATE=1 $(GO) test ./...

platforms: ## build for every platform, and check that its tests compile
	@for p in $(PLATFORMS); do echo $$p; GOOS=$${p%/*} GOARCH=$${p#*/} $(BUILD) -o /dev/null . || exit 1; done
	@# With the flags of the build, vet finds what they need in the cache.
	GOOS=darwin GOARCH=arm64 $(VET) ./...
	GOOS=windows GOARCH=amd64 $(VET) ./...

package: ## archives for every platform, deb, rpm and apk for Linux, in bin/dist
	GO="$(GO)" VERSION="$(VERSION)" packaging/package.sh $(PLATFORMS)

deploy-test: bin/gotest ## check packages, units and manifests with the programs that read them
	$(MAKE) -s package PLATFORMS=linux/amd64
	@GCLOG_DIST=$(CURDIR)/bin/dist $(GOTEST) -count=1 -run='^TestDeploy' ./internal/e2e/deploy
	cd testdata/deploy && $(GO) test -count 1 ./...

clean: ## remove what was built
	rm -rf bin

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' Makefile | expand -t 16

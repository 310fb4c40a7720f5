# What can be made here. `make` alone lists it.
.DEFAULT_GOAL := help
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c

GO ?= go
# What this tree is called, which the program says of itself.
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
STAMP = -X github.com/locktest/locktest/catalog.version=$(VERSION)
# How many inputs each decoder is given. A count, not a time: at the end of a time, Go below 1.27 now and then fails
# with "context deadline exceeded" where nothing was found (https://go.dev/issue/75804).
FUZZ_INPUTS ?= 200000

# What tests need, as WHERE=PACKAGE: a program on PATH, or a file; with commas between, any of them.
NEEDS := redis-server=redis-server \
	/usr/lib/postgresql/*/bin/postgres,postgres=postgresql \
	/usr/sbin/pgbouncer,pgbouncer=pgbouncer \
	java=default-jre-headless \
	/usr/share/java/zookeeper.jar=libzookeeper-java \
	/usr/sbin/mkfs.ext4,mkfs.ext4=e2fsprogs \
	/usr/sbin/iptables-restore,iptables-restore=iptables \
	curl=curl \
	xmllint=libxml2-utils \
	/usr/lib/python3/dist-packages/junitparser/__init__.py=python3-junitparser \
	chromium,chromium-browser,google-chrome=chromium \
	/usr/lib/python3/dist-packages/redis/__init__.py=python3-redis \
	/usr/lib/python3/dist-packages/psycopg/__init__.py=python3-psycopg \
	/usr/lib/python3/dist-packages/kazoo/__init__.py=python3-kazoo \
	/usr/lib/python3/dist-packages/etcd3/__init__.py=python3-etcd3 \
	/usr/share/java/postgresql.jar=libpostgresql-jdbc-java \
	/usr/share/java/curator-recipes.jar=libcurator-recipes-java \
	javac=default-jdk-headless \
	node=nodejs \
	npm=npm
# missing prints the packages that aren't there, one a line.
missing = for n in $(foreach n,$(NEEDS),'$(n)'); do there=; IFS=, read -ra places <<<"$${n%=*}"; \
	for p in "$${places[@]}"; do if command -v "$$p" >/dev/null || compgen -G "$$p" >/dev/null; then there=yes; fi; done; \
	[ -n "$$there" ] || echo "$${n\#*=}"; done

-include advise/advise.mk
-include checker/checker.mk
-include cluster/cluster.mk
-include locks/locks.mk
-include reports/reports.mk

.PHONY: screenshot tutorial help release deps build need test lint controls controls-quick privileged bench results compare-quick fuzz fuzz-decoders cross clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  %-16s %s\n", $$1, $$2}'

deps: ## install what the tests need (as root; otherwise it prints the line to type)
	@mapfile -t missing < <($(missing)); \
	if [ $${#missing[@]} -eq 0 ]; then echo "deps: everything is there"; exit 0; fi; \
	line="apt-get install -y --no-install-recommends $${missing[*]}"; \
	if ! command -v apt-get >/dev/null; then echo "deps: missing: $${missing[*]}; install them with your system's package manager"; exit 1; fi; \
	if [ "$$(id -u)" -ne 0 ]; then echo "deps: missing: $${missing[*]}; type: sudo $$line"; exit 1; fi; \
	printf '#!/bin/sh\nexit 101\n' > /tmp/locktest-policy-rc.d && chmod +x /tmp/locktest-policy-rc.d; \
	[ -e /usr/sbin/policy-rc.d ] || { cp /tmp/locktest-policy-rc.d /usr/sbin/policy-rc.d; trap 'rm -f /usr/sbin/policy-rc.d' EXIT; }; \
	apt-get update -qq && DEBIAN_FRONTEND=noninteractive $$line

build: ## build bin/locktest
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags "$(STAMP)" -o bin/locktest ./cmd/locktest

need:
	@mapfile -t missing < <($(missing)); [ $${#missing[@]} -eq 0 ] || { echo "test: missing: $${missing[*]}: make deps"; exit 1; }

test: need lint ## lint, then all packages with the race detector (the controls have targets of their own)
	$(GO) test -race -timeout 20m $$($(GO) list ./... | grep -v /controls$$)
	$(MAKE) --no-print-directory foreign

lint: ## gofmt, go vet, the house rules
	@bad=$$(gofmt -l $$(git ls-files '*.go')); [ -z "$$bad" ] || { echo "gofmt would change: $$bad"; exit 1; }
	$(GO) vet ./...
	$(GO) test -count=1 ./internal/tidy

controls: need ## every broken lock is caught, twice, and its right counterpart is clean; the memory locks in 200 seeds each; prints the table
	$(GO) test -count=1 -timeout 60m -parallel 4 -v -run 'TestControls|TestMemoryControls|TestContentionControls' ./controls -controls.runs=2 -controls.seeds=200 -controls.contention=50

controls-quick: need ## the same, once and with few seeds
	$(GO) test -count=1 -timeout 15m -parallel 4 -v -run 'TestControls|TestMemoryControls|TestContentionControls' ./controls -controls.runs=1 -controls.seeds=8 -controls.contention=2

privileged: need ## faults that need root: tests whose names begin with TestPrivileged, with the tag of that name
	@[ "$$(id -u)" -eq 0 ] || { echo "privileged: not root: sudo make privileged"; exit 1; }
	$(GO) test -count=1 -tags privileged -timeout 20m -p 1 -run TestPrivileged $$($(GO) list ./... | grep -v /controls$$)

bench: need ## the harness's own speed and cost, as ratios where that says more
	$(GO) test -count=1 -timeout 20m -run xxx -bench . -benchtime 3s ./bench

tutorial: need ## every command of docs/tutorial.md and of the README does what it says there
	$(GO) test -count=1 -tags tutorial -timeout 10m -parallel 6 -v -run TestTutorial ./cmd/locktest

screenshot: need build ## the picture of a report in the README, from a run made for it (needs Chromium)
	bin/locktest run pause-holder --lock redis/single --set workload.resource=ignores-token -o html=bin/report.html >bin/report.txt || test $$? -eq 1
	chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size=1100,1100 --screenshot=docs/report.png file://$(CURDIR)/bin/report.html

results: need build ## every lock under every scenario of the matrix, three times; what is in docs/results/ is not run again; an hour or more
	mkdir -p docs/results
	bin/locktest compare --lock all --runs 3 --jobs 3 --data docs/results/cells.jsonl --command 'make results' --markdown docs/results.md --html docs/results/compare.html --no-links scenarios/matrix/*.yaml

compare-quick: need build ## one strategy a provider under the matrix, once; prints the table; at most ten minutes
	bin/locktest compare --lock redis/single,redis/redlock,postgres/lease,etcd/lease,zookeeper/ephemeral --jobs 3 scenarios/matrix/*.yaml

fuzz: fuzz-decoders fuzz-checker ## both of these

fuzz-decoders: ## each decoder with FUZZ_INPUTS inputs (default 200,000)
	$(GO) test -run xxx -fuzz FuzzReadJSONL -fuzztime $(FUZZ_INPUTS)x -fuzzminimizetime 10x ./history
	$(GO) test -run xxx -fuzz FuzzLoad -fuzztime $(FUZZ_INPUTS)x -fuzzminimizetime 10x ./scenarios
	$(GO) test -run xxx -fuzz FuzzSetting -fuzztime $(FUZZ_INPUTS)x -fuzzminimizetime 10x ./scenarios
	$(GO) test -run xxx -fuzz FuzzMessage -fuzztime $(FUZZ_INPUTS)x -fuzzminimizetime 10x ./clients
	$(GO) test -run xxx -fuzz FuzzFrames -fuzztime $(FUZZ_INPUTS)x -fuzzminimizetime 10x ./internal/wire
	$(GO) test -run xxx -fuzz FuzzServe -fuzztime $(FUZZ_INPUTS)x -fuzzminimizetime 10x ./clients

cross: ## build for every platform
	for p in linux/amd64 linux/arm64 darwin/arm64 windows/amd64; do GOOS=$${p%/*} GOARCH=$${p#*/} CGO_ENABLED=0 $(GO) build -o /dev/null ./cmd/locktest; echo "$$p builds"; done

# The platforms that a release is built for.
PLATFORMS := linux/amd64 linux/arm64 darwin/arm64 windows/amd64

release: ## static binaries for every platform, with checksums and the version: dist/
	rm -rf dist && mkdir dist
	for p in $(PLATFORMS); do os=$${p%/*}; name=locktest_$(VERSION)_$${os}_$${p#*/}; [ $$os != windows ] || name=$$name.exe; \
	GOOS=$$os GOARCH=$${p#*/} CGO_ENABLED=0 $(GO) build -trimpath -ldflags "-s -w $(STAMP)" -o dist/$$name ./cmd/locktest; echo "dist/$$name"; done
	cd dist && sha256sum locktest_* > SHA256SUMS && sha256sum --quiet -c SHA256SUMS
	@host=dist/locktest_$(VERSION)_$$($(GO) env GOOS)_$$($(GO) env GOARCH); [ ! -x $$host ] || $$host version | grep -F 'locktest $(VERSION) '

clean: ## remove what was built and run
	rm -rf bin dist runs

# Long searches of package checker.
FUZZ ?= 1000000
SEED ?= 1

.PHONY: foreign fuzz-checker fuzz-checker-quick bench-checker mutate

foreign: ## histories of other projects, which are not in this repository: LOCKTEST_CASES=FOLDER names where they are
	@$(GO) test -count=1 -v -run TestForeign ./checker | grep -E '^(third-party|---|    [a-z_]+_test.go|ok|FAIL)'

fuzz-checker: ## FUZZ random histories for each model (default 1 000 000) against Porcupine, from SEED
	LOCKTEST_FUZZ=$(FUZZ) LOCKTEST_SEED=$(SEED) $(GO) test -count=1 -timeout 0 -v -run AgainstPorcupine ./checker

fuzz-checker-quick: ## the same with 50 000
	$(MAKE) fuzz-checker FUZZ=50000

bench-checker: ## the checker against Porcupine on the same histories, as ratios
	LOCKTEST_BENCH=1 $(GO) test -count=1 -timeout 60m -run 'TestBench$$' ./checker -v

mutate: ## change each comparison of the sweep and the general engine: the tests must notice
	$(GO) run ./checker/mutate -dir checker

.PHONY: kinds tokens conformance integration integration-redis integration-postgres integration-scenarios random-servers

integration-redis: need ## every shape of Redis: starts, serves, fails over, comes back; with times
	$(GO) test -count=1 -tags integration -timeout 20m -v ./locks/redis

integration-postgres: need ## every shape of PostgreSQL
	$(GO) test -count=1 -tags integration -timeout 20m -v ./locks/postgres

integration-scenarios: need ## every scenario: the known hazards three times each, the guards five times, two at once; prints the table; some twenty minutes
	$(GO) test -count=1 -tags integration -timeout 90m -v -run TestServers ./controls

integration: need ## every shape of every server starts, serves, fails, comes back and leaves nothing; prints the table; some ten minutes
	$(GO) test -count=1 -tags integration -timeout 40m -p 1 ./locks/... ./nemesis
	$(GO) test -count=1 -tags integration -timeout 20m -v -run TestShapes ./controls

conformance: need ## every strategy on its servers does what it claims; prints the table; some ten minutes
	$(GO) test -count=1 -tags integration -timeout 40m -v -run TestConformance ./controls

kinds: need ## semaphores, read-write locks and the queue under faults, five to ten times each; prints the table; some ten minutes
	$(GO) test -count=1 -tags integration -timeout 40m -v -run TestKinds ./controls | grep -v -e '^=== ' -e '^ *--- PASS'

tokens: need ## locks with tokens that the resource checks, under the whole matrix, five times each; prints the table; half an hour
	$(GO) test -count=1 -tags integration -timeout 90m -v -run TestTokens ./controls | grep -v -e '^=== ' -e '^ *--- PASS'

random-servers: need ## three seeds of every fault by chance on all four servers, a minute each; prints the table; as root, a quarter of an hour
	$(GO) test -count=1 -tags integration -timeout 60m -v -run TestRandomServers ./controls

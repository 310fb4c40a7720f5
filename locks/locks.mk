.PHONY: integration integration-redis integration-postgres integration-scenarios

integration-redis: need ## every shape of Redis: starts, serves, fails over, comes back; with times
	$(GO) test -count=1 -tags integration -timeout 20m -v ./locks/redis

integration-postgres: need ## every shape of PostgreSQL
	$(GO) test -count=1 -tags integration -timeout 20m -v ./locks/postgres

integration-scenarios: need ## the known hazards of Redis and PostgreSQL, three times each, and the guards, five times
	$(GO) test -count=1 -tags integration -timeout 60m -v -run TestServers ./controls

integration: need ## every shape of every server that its tests know: some ten minutes
	$(GO) test -count=1 -tags integration -timeout 40m -p 1 ./locks/...

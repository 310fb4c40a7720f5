.PHONY: docker docker-tests

docker: need ## servers in containers, of images made from this machine's programs; starts an engine where none answers (as root)
	.ci/with-docker $(MAKE) --no-print-directory docker-tests

# The reaper's image would have to come from a registry; nothing here needs it.
docker-tests: export TESTCONTAINERS_RYUK_DISABLED=true
docker-tests:
	$(GO) test -count=1 -tags docker -timeout 20m ./cluster/docker
	$(GO) test -count=1 -tags docker -timeout 20m -run Docker ./cmd/locktest

.PHONY: advise-code

advise-code: need ## the programs of advise --code are compiled and run on real servers, several at a time (npm ci fetches Node's packages)
	$(GO) test -count=1 -tags advice -timeout 10m -parallel 16 -run TestPrograms ./advise

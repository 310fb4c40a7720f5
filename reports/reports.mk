# What is made of the package reports beside its tests.
.PHONY: browser bench-report

browser: need ## the page of a run in a browser without a network: tests whose names begin with TestBrowser; LOCKTEST_SCREENSHOTS=DIR keeps pictures
	$(GO) test -count=1 -tags browser -timeout 10m -run TestBrowser ./reports

bench-report: need ## size of a run's page, time to write it and until it can be used, for 10,000 to 1,000,000 operations
	$(GO) test -count=1 -tags browser -timeout 20m -run xxx -bench BenchmarkPage -benchtime 1x ./reports

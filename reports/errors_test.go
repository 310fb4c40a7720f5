package reports

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type missing struct{}

func (missing) Error() string { return "redis-server was not found" }

func (missing) Tell() (string, string, []string, []string) {
	return "LT101", "redis-server was not found",
		[]string{"needed by: lock redis/single", "looked in: PATH (9 folders), LOCKTEST_REDIS_SERVER (not set)"},
		[]string{"apt install redis-server", "--on embedded: servers in this process, less real"}
}

type died struct{}

func (died) Error() string { return "n3 died" }

func (died) Tell() (string, string, []string, []string) {
	return "LT103", "n3 did not become ready in 10 s", []string{"it exited with status 1; last lines of logs/n3.log:\nFatal error,\x1b[31m can't open config file\nbye\n"}, []string{"mend the file"}
}

func TestErrors(t *testing.T) {
	var b bytes.Buffer
	for _, err := range []error{fmt.Errorf("start cluster: %w", missing{}), died{}, errors.Join(died{}, errors.New("close the network: timeout")), errors.New("disk is full")} {
		if err := WriteError(&b, err, Style{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := Summary(&b, "1 error in 1 file"); err != nil {
		t.Fatal(err)
	}
	golden(t, "testdata/errors.golden", b.String())
}

func TestExplain(t *testing.T) {
	p := Explain(fmt.Errorf("start cluster: %w", missing{}))
	if p.Code != "LT101" || len(p.Fix) != 2 {
		t.Errorf("%+v", p)
	}
	if diff := cmp.Diff(Problem{Message: "disk is full"}, Explain(errors.New("disk is full"))); diff != "" {
		t.Error(diff)
	}
}

func TestWords(t *testing.T) {
	for got, want := range map[string]string{
		percent(0): "0 %", percent(0.00001): "0.1 %", percent(0.5): "50.0 %", percent(0.99999): "99.99 %", percent(0.9995): "99.95 %", percent(1): "100 %",
		grouped(7911): "7 911", grouped(1234567): "1 234 567", grouped(12): "12", grouped(-1234): "-1 234",
		count(1, "query"): "1 query", count(2, "query"): "2 queries", count(1000, "hold"): "1 000 holds",
		plain("mutual-exclusion/stale-holder"): "mutual exclusion (stale holder)", plain("re-entrancy"): "re-entrancy",
		long(1472e6): "1.472 s", long(3e6): "0.003 s", long(3500): "3.5 µs", short(41e6): "41 ms", short(400e3): "0.40 ms", short(12e9): "12.0 s",
		toASCII("━╍·▒●✗ größe"): "=~.#oX gr??e", clean("a\x1b[31m\tb"): "a [31m b", sentence("it is"): "it is.",
		joined([]string{"c1", "c2", "c3"}): "c1, c2 and c3",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

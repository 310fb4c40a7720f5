package history

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// grantsOf lists the grants of h's events.
func grantsOf(h *History) []int {
	var out []int
	for i := range h.Ops {
		out = append(out, h.Ops[i].Grant)
	}
	return out
}

// What a client does belongs to its newest grant of that lock. One that was refused is none: what comes then is of the
// one before.
func TestImportNumbersGrants(t *testing.T) {
	h := imported(t, `
{"op":"acquire","lock":"L","client":"a","start":1,"end":2}
{"op":"acquire","lock":"M","client":"b","start":3,"end":4}
{"op":"acquire","lock":"L","client":"a","start":5,"end":6,"result":"busy"}
{"op":"extend","lock":"L","client":"a","start":7,"end":8}
{"op":"acquire","lock":"M","client":"a","start":9,"end":10,"result":"failed"}
{"op":"release","lock":"M","client":"a","start":11,"end":12,"result":"not-held"}
{"op":"acquire","lock":"L","client":"a","start":13}
{"op":"release","lock":"L","client":"a","start":15,"end":16}
{"op":"lost","lock":"M","client":"b","start":17}
{"op":"lost","lock":"L","client":"b","start":18}
`, FormatLog)
	want := []int{1, 1, 2, 2, 3, 3, 1, 1, 4, 4, 5, 5, 6, 6, 6, 6, 2, 0}
	if diff := cmp.Diff(want, grantsOf(h)); diff != "" {
		t.Errorf("grants (-want +got):\n%s", diff)
	}
	h = imported(t, `{:type :invoke, :f :acquire, :process 0, :time 1} {:type :ok, :f :acquire, :process 0, :time 2}
{:type :invoke, :f :acquire, :process 0, :time 3} {:type :fail, :f :acquire, :process 0, :time 4}
{:type :invoke, :f :release, :process 0, :time 5} {:type :ok, :f :release, :process 0, :time 6}`, FormatEDN)
	if diff := cmp.Diff([]int{1, 1, 2, 2, 1, 1}, grantsOf(h)); diff != "" {
		t.Errorf("EDN (-want +got):\n%s", diff)
	}
	h = imported(t, `[{"type":"invoke","f":"lock","process":1,"time":1,"value":"L"},{"type":"ok","f":"lock","process":1,"time":2,"value":"t"},
{"type":"invoke","f":"lock","process":1,"time":3,"value":"L"},{"type":"ok","f":"lock","process":1,"time":4,"value":""},
{"type":"invoke","f":"unlock","process":1,"time":5,"value":"L"},{"type":"ok","f":"unlock","process":1,"time":6,"value":"t"}]`, FormatAtlasDB)
	if diff := cmp.Diff([]int{1, 1, 2, 2, 1, 1}, grantsOf(h)); diff != "" {
		t.Errorf("AtlasDB (-want +got):\n%s", diff)
	}
}

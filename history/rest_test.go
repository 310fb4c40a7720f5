package history

import (
	"errors"
	"strings"
	"testing"
)

// What follows the end of what is read is refused, as it would be left out without a word.
func TestImportRefusesWhatFollows(t *testing.T) {
	const (
		acquire = `{"op":"acquire","lock":"L","client":"a","start":10,"end":12}`
		invoke  = "{:type :invoke, :f :acquire, :process 0, :time 0}"
		records = `[{"type":"invoke","f":"lock","process":1,"time":1,"value":"L"}]`
	)
	for name, tt := range map[string]struct{ text, want string }{
		"log: two objects":     {acquire + "\n" + acquire + acquire, `line 2: not a history: something follows the object: "{\"op\":\"acquire\",\"lock\":\"L\",\"client\":\"a\",": expected one object a line`},
		"log: a word":          {acquire + " yes", `line 1: not a history: something follows the object: "yes": expected one object a line`},
		"edn: two vectors":     {"[" + invoke + "]\n[" + invoke + "]", `line 2: not a history: something follows the vector: "[{:type :invoke, :f :acquire, :process 0": expected one vector of maps`},
		"edn: closed twice":    {"[" + invoke + "]]", `line 1: not a history: something follows the vector: "]": expected one vector of maps`},
		"edn: never opened":    {invoke + "]", `line 1: not a history: expected a map, {:type …}`},
		"edn: a vector, later": {invoke + "\n[" + invoke + "]", `line 2: not a history: expected a map, {:type …}`},
		"atlasdb: two arrays":  {records + "\n" + records, `byte 64: not a history: something follows the array: "[{\"type\":\"invoke\",\"f\":\"lock\",\"process\":1": expected one array of records`},
		"atlasdb: cut off":     {records[:len(records)-1], `byte 62: not a history: unexpected EOF`},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := Import(strings.NewReader(tt.text), lease())
			if err == nil || err.Error() != tt.want || !errors.Is(err, ErrFormat) {
				t.Errorf("got %v\nwant %s", err, tt.want)
			}
		})
	}
	for _, text := range []string{acquire + " \t\r\n", "[" + invoke + "]\n; the end\n", records + "\n\n"} {
		if h, _, err := Import(strings.NewReader(text), lease()); err != nil || h.Truncated != "" {
			t.Errorf("%q: truncated %q, %v", text, h.Truncated, err)
		}
	}
}

// A vector that was cut off between two of its records is told of, as a last line of our own form is.
func TestImportTellsThatAVectorIsCutOff(t *testing.T) {
	h := imported(t, "[{:type :invoke, :f :acquire, :process 0, :time 0}\n {:type :ok, :f :acquire, :process 0, :time 10}\n", FormatEDN)
	if want := `the vector was cut off after line 2: it has no "]"`; len(h.Ops) != 2 || h.Truncated != want {
		t.Errorf("%d events, truncated %q, want 2 and %q", len(h.Ops), h.Truncated, want)
	}
}

package flatjson

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestObject(t *testing.T) {
	var s Scanner
	var word, raw string
	var n int64
	read := func(line string) error {
		word, raw, n = "", "", 0
		return s.Object([]byte(line), func(key string) (err error) {
			switch key {
			case "word":
				word, err = s.String()
			case "n":
				n, err = s.Int64()
			default:
				var r json.RawMessage
				r, err = s.Raw()
				raw = string(r)
			}
			return err
		})
	}
	for line, want := range map[string]struct {
		word, raw string
		n         int64
	}{
		`{}`:                                {},
		` { "word" : "a" , "n" : -12 } `:    {word: "a", n: -12},
		`{"word":"\u00e9\"\\","n":0}`:       {word: `é"\`},
		`{"word":"é"}`:                      {word: "é"},
		`{"other":{"a":["}",1,{"b":"]"}]}}`: {raw: `{"a":["}",1,{"b":"]"}]}`},
		`{"other":1.5e3,"n":7}`:             {raw: "1.5e3", n: 7},
	} {
		if err := read(line); err != nil || word != want.word || raw != want.raw || n != want.n {
			t.Errorf("%s: got %q, %q, %d, %v", line, word, raw, n, err)
		}
	}
	for line, want := range map[string]string{
		``:                           `expected '{'`,
		`[]`:                         `expected '{'`,
		`{"word":"a"`:                "expected , or }",
		`{"word":"a`:                 "string without end",
		`{"word":"a\"}`:              "string without end",
		`{"word":1}`:                 `word: expected '"'`,
		`{"n":1.5}`:                  "expected , or }",
		`{"n":99999999999999999999}`: "value out of range",
		`{"other":nul}`:              "not a JSON value",
		`{"other":[1`:                "value without end",
		`{} {}`:                      "something follows",
		`{"word" "a"}`:               `expected ':'`,
	} {
		if err := read(line); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", line, err, want)
		}
	}
}

// Keys are remembered by their place, as they are written: an escape is told apart.
func TestKeys(t *testing.T) {
	var s Scanner
	for _, c := range []struct{ line, want string }{
		{`{"a":1,"b":2}`, "a b"},
		{`{"a":1,"c":2}`, "a c"},
		{`{"ab":1}`, "ab"},
		{`{"a":1,"c":2,"d":3}`, "a c d"},
		{`{"a\"b":1}`, `a"b`},
		{`{"a"b":1}`, "expected ':'"},
		{`{"d\u0061":1}`, "da"},
		{`{"da`, "string without end"},
		{`{"da"`, "expected ':'"},
	} {
		var keys []string
		err := s.Object([]byte(c.line), func(key string) error {
			keys = append(keys, key)
			_, err := s.Int64()
			return err
		})
		got := strings.Join(keys, " ")
		if err != nil {
			got = err.Error()
		}
		if !strings.HasSuffix(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.line, got, c.want)
		}
	}
}

// What is appended is what encoding/json reads.
func TestAppend(t *testing.T) {
	for _, v := range []string{"plain", `quote " and \`, "tab\tand\nline", "ünïcode", "\x1b[31m", "</script>", "\xff"} {
		b := AppendString(AppendInt(AppendUint([]byte(`{"first":1`), "u", 1<<63), "i", -5), "s", v)
		var got struct {
			U uint64
			I int64
			S string
		}
		if err := json.Unmarshal(append(b, '}'), &got); err != nil {
			t.Fatalf("%q: %v", b, err)
		}
		if want := strings.ToValidUTF8(v, "\uFFFD"); got.U != 1<<63 || got.I != -5 || got.S != want {
			t.Errorf("%q became %+v", v, got)
		}
	}
	if b := AppendString(AppendInt(AppendUint(nil, "u", 0), "i", 0), "s", ""); len(b) != 0 {
		t.Errorf("nothing became %q", b)
	}
}

package reports

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/locktest/locktest/history"
)

// unpacked is what a page's script reads: the columns, signed and summed as there.
type unpacked struct {
	rows    int
	texts   []string
	big     map[string]string
	columns map[string][]int64
}

var packedPart = regexp.MustCompile(`<script type="application/octet-stream" id="operations">([^<]*)</script>`)

func unpack(t *testing.T, page string) unpacked {
	t.Helper()
	m := packedPart.FindStringSubmatch(page)
	if m == nil {
		t.Fatal("the page has no operations")
	}
	raw, err := base64.StdEncoding.DecodeString(m[1])
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	all, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	length := binary.LittleEndian.Uint32(all)
	var contents struct {
		Rows    int
		Texts   []string
		Big     map[string]string
		Columns []column
	}
	if err := json.Unmarshal(all[4:4+length], &contents); err != nil {
		t.Fatal(err)
	}
	u := unpacked{contents.Rows, contents.Texts, contents.Big, map[string][]int64{}}
	rest := all[4+length:]
	for _, c := range contents.Columns {
		u.columns[c.Name] = integers(t, c.Name, rest[:c.Bytes])
		if n := len(u.columns[c.Name]); n != u.rows {
			t.Errorf("%s has %d numbers for %d rows", c.Name, n, u.rows)
		}
		rest = rest[c.Bytes:]
	}
	if len(rest) > 0 {
		t.Errorf("%d bytes are left", len(rest))
	}
	return u
}

func integers(t *testing.T, name string, data []byte) (out []int64) {
	t.Helper()
	sum := int64(0)
	for len(data) > 0 {
		n, size := binary.Uvarint(data)
		if size <= 0 {
			t.Fatalf("%s: no number", name)
		}
		data = data[size:]
		v := int64(n)
		if slices.Contains([]string{"grant", "token", "value", "index"}, name) {
			v = int64(n>>1) ^ -int64(n&1)
		}
		if slices.Contains([]string{"start", "grant", "token", "value", "index"}, name) {
			sum += v
			v = sum
		}
		out = append(out, v)
	}
	return out
}

// line is a row in words.
func (u unpacked) line(i int) string {
	c := func(name string) int64 { return u.columns[name][i] }
	return strings.Join(strings.Fields(fmt.Sprintf("%d+%d %s %s %s %s grant %d token %d%s value %d valid %d flags %d %s", c("start"), c("duration"), u.texts[c("client")],
		rowKinds()[c("kind")], u.texts[c("subject")], rowOutcomes()[c("outcome")], c("grant"), c("token"), u.big[fmt.Sprint(i)], c("value"), c("valid"), c("flags"), u.texts[c("text")])), " ")
}

func TestOperationsOfAPage(t *testing.T) {
	u := unpack(t, written(t, HTML(HTMLOptions{}), staleWrite(nil)))
	var got []string
	for i := range u.rows {
		got = append(got, u.line(i))
	}
	want := []string{
		"12002000+2001 c2 acquire orders ok grant 41 token 41 value 0 valid 2000001 flags 2",
		"12005000+1001 c2 read stock ok grant 41 token 41 value 7 valid 0 flags 0",
		"12310000+0 nemesis fault-begin grant 0 token 0 value 0 valid 0 flags 0 pause c2 (SIGSTOP)",
		"13020000+1031001 c4 acquire orders ok grant 42 token 42 value 0 valid 3029001 flags 2",
		"14052000+1001 c4 read stock ok grant 42 token 42 value 7 valid 0 flags 0",
		"14119000+1001 c4 write stock ok grant 42 token 42 value 8 valid 0 flags 2",
		"15522000+0 nemesis fault-end grant 0 token 0 value 0 valid 0 flags 0 pause c2 (SIGSTOP)",
		"15522000+1001 c2 write stock ok grant 41 token 41 value 9 valid 0 flags 3",
		"15529000+1001 c2 release orders not-held grant 41 token 0 value 0 valid 0 flags 2",
		"15900000+2001 c4 release orders ok grant 42 token 0 value 0 valid 0 flags 0",
		"15903000+2001 c1 acquire orders ok grant 43 token 43 value 0 valid 2000001 flags 0",
		"15930000+2001 c1 release orders ok grant 43 token 0 value 0 valid 0 flags 0",
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestRowsOfACrash: what was renewed says until when, and what was never answered has no end.
func TestRowsOfACrash(t *testing.T) {
	u := unpack(t, written(t, HTML(HTMLOptions{}), crashedHolder()))
	var got []string
	for i := range u.rows {
		got = append(got, u.line(i))
	}
	golden(t, "testdata/crashed-holder.rows.golden", strings.Join(got, "\n")+"\n")
}

func TestLargeNumbersOfAPage(t *testing.T) {
	u := unpack(t, written(t, HTML(HTMLOptions{}), hostile()))
	found := false
	for i := range u.rows {
		found = found || u.big[fmt.Sprint(i)] == "18446744073709551615" && u.columns["token"][i] == 0
	}
	if !found {
		t.Errorf("the largest token is lost: %v", u.big)
	}
	b := newBook(history.PerGrant, history.IgnoresToken)
	for i := range maxTexts + 50 {
		b.add("x", history.Op{Client: "c1", Type: history.Observed, Name: fmt.Sprint("key ", i), Text: strings.Repeat("long ", 200)})
	}
	b.finish()
	u = unpack(t, written(t, HTML(HTMLOptions{}), b.outcome(nil)))
	if len(u.texts) > maxTexts+1 || len([]rune(u.texts[3])) > maxLength+1 || u.rows != maxTexts+50 {
		t.Errorf("%d texts, one of %d characters, %d rows", len(u.texts), len(u.texts[3]), u.rows)
	}
}

// TestTheMostOfAPage: what findings rest on, and what isn't an operation, stays whatever the most is; the rest comes by
// how near it is; and the page says so.
func TestTheMostOfAPage(t *testing.T) {
	o := synthetic(20_000)
	for _, most := range []int{1, 500, 5_000, 1_000_000} {
		page := written(t, HTML(HTMLOptions{Max: most}), o)
		u := unpack(t, page)
		cited, faults := 0, 0
		for i := range u.rows {
			if u.columns["flags"][i]&flagCited != 0 {
				cited++
			}
			if strings.HasPrefix(rowKinds()[u.columns["kind"][i]], "fault-") {
				faults++
			}
		}
		if cited != 1 || faults != 16 || u.rows > max(most, 17) {
			t.Errorf("of %d: %d rows, %d of them cited, %d of faults", most, u.rows, cited, faults)
		}
		if notice := strings.Contains(page, "operations and events are in this page"); notice != (most < 20_000) {
			t.Errorf("of %d: notice %v", most, notice)
		}
		if !slices.IsSorted(u.columns["start"]) {
			t.Error("the rows aren't in order")
		}
	}
}

// TestTheCapSaysWhatIsThere: only what is there as a whole is said to be.
func TestTheCapSaysWhatIsThere(t *testing.T) {
	o := synthetic(20_000)
	for most, want := range map[int]string{
		1:  "what violations rest on and events that no client asked for. The history",
		50: "what violations rest on and events that no client asked for; some of what was near violations. The history",
	} {
		page := visible(parsed(t, written(t, HTML(HTMLOptions{Max: most}), o)))
		if _, said, _ := strings.Cut(page, "events are in this page: "); !strings.HasPrefix(said, want) {
			t.Errorf("of %d: %.200q", most, said)
		}
	}
	sparse := synthetic(4_000) // most of it is near nothing once it is spread over minutes
	for i := range sparse.History.Ops {
		sparse.History.Ops[i].Time *= 600
	}
	for r := range sparse.Results {
		for f := range sparse.Results[r].Findings {
			sparse.Results[r].Findings[f].At *= 600
			sparse.Results[r].Findings[f].Until *= 600
		}
	}
	for most, want := range map[int]string{
		3_500: "what was near violations; what was near faults; what was left without an answer; of the rest what began until ",
		90:    "what was near violations; some of what was near faults. The history",
	} {
		page := visible(parsed(t, written(t, HTML(HTMLOptions{Max: most}), sparse)))
		if _, said, _ := strings.Cut(page, "events are in this page: "); !strings.Contains(said, "; "+want) {
			t.Errorf("of %d: %.300q", most, said)
		}
	}
}

// TestNearIsKeptFirst: above the most, what was near a violation outweighs what wasn't.
func TestNearIsKeptFirst(t *testing.T) {
	o := synthetic(200_000)
	at := o.Results[1].Findings[0].At.Microseconds()
	u := unpack(t, written(t, HTML(HTMLOptions{Max: 3_000}), o))
	near := 0
	for _, start := range u.columns["start"] {
		if start > at-10_000_000 && start < at+10_000_000 {
			near++
		}
	}
	if near < u.rows*9/10 {
		t.Errorf("%d of %d rows are near the violation", near, u.rows)
	}
}

func TestSizeOfAPage(t *testing.T) {
	if n := len(written(t, HTML(HTMLOptions{}), synthetic(100_000))); n > 2<<20 {
		t.Errorf("100 000 operations take %d bytes", n)
	}
	if n := len(written(t, HTML(HTMLOptions{}), cleanRun())); n > 200<<10 {
		t.Errorf("a page of few operations has %d bytes", n)
	}
}

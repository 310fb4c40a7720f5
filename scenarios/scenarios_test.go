package scenarios

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestCodes(t *testing.T) {
	var codes []string
	for _, c := range Codes() {
		if !regexp.MustCompile(`^LT0\d\d$`).MatchString(c.Code) || !strings.HasSuffix(c.About, ".") {
			t.Errorf("code %q: %q", c.Code, c.About)
		}
		codes = append(codes, c.Code)
	}
	if !slices.IsSorted(codes) || len(slices.Compact(slices.Clone(codes))) != len(codes) {
		t.Errorf("not in order, or twice: %v", codes)
	}
	src, err := os.ReadFile("codes.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`= "(LT\d+)"`).FindAllStringSubmatch(string(src), -1) {
		if !slices.Contains(codes, m[1]) {
			t.Errorf("%s has no explanation", m[1])
		}
	}
}

func TestFieldsAreSane(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range Fields() {
		if f.About == "" || f.Syntax == "" || seen[f.Path] {
			t.Errorf("field %+v", f)
		}
		seen[f.Path] = true
		if f.Values != nil && f.Default != "" && !slices.Contains(f.Values, f.Default) {
			t.Errorf("%s: default %q is none of %v", f.Path, f.Default, f.Values)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"pause", "pause", 0}, {"partiton", "partition", 1}, {"puase", "pause", 1}, {"kill", "pause", 5}, {"ca", "abc", 3}} {
		if got := distance(c.a, c.b); got != c.want {
			t.Errorf("distance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

func TestFormatsParseBack(t *testing.T) {
	for i := range 1001 {
		share, m := parsePercent(fmt.Sprintf("%g%%", float64(i)/10))
		if m != nil {
			t.Fatal(m.message)
		}
		if got, m := parsePercent(formatPercent(share)); m != nil || got != share {
			t.Errorf("%v is written as %s", share, formatPercent(share))
		}
	}
	for _, text := range []string{"0s", "1us", "1.5us", "200ms", "1m", "1h", "1h1s", "1h30m", "90s", "2562h", "1ns", "100m10s"} {
		d, m := parseDuration(text)
		if m != nil {
			t.Fatal(m.message)
		}
		if got, m := parseDuration(formatDuration(d)); m != nil || got != d {
			t.Errorf("%s is written as %s", text, formatDuration(d))
		}
	}
}

func TestFind(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"quickstart", "redlock-partition", "scenarios/redlock-partition.yaml", "./scenarios/contention.yaml", "contention.yaml"} {
		if file, src, err := Find(name); err != nil || len(src) == 0 || !strings.HasPrefix(file, "scenarios/") {
			t.Errorf("Find(%q) = %q, %d bytes, %v", name, file, len(src), err)
		}
	}
	if err := os.WriteFile("quickstart", []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if file, src, err := Find("quickstart"); err != nil || file != "quickstart" || string(src) != "mine" {
		t.Errorf("a file on the disk doesn't win: %q, %q, %v", file, src, err)
	}
	if err := os.Mkdir("contention", 0o700); err != nil {
		t.Fatal(err)
	}
	if file, _, err := Find("contention"); err != nil || file != "scenarios/contention.yaml" {
		t.Errorf("a folder is in the way: %q, %v", file, err)
	}
	_, _, err := Find("redlock-partiton")
	var missing *NotFound
	if !errors.As(err, &missing) || missing.Suggest != "redlock-partition" || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}

// TestEmbedded reads the files that come with the program, without a complaint.
func TestEmbedded(t *testing.T) {
	for _, name := range []string{"quickstart", "redlock-partition", "pause-holder", "contention", "kill-holder", "slow-node", "node-killed-empty", "late-release"} {
		t.Run(name, func(t *testing.T) {
			file, src, err := Find(name)
			if err != nil {
				t.Fatal(err)
			}
			s, problems := Load(file, src, testNames())
			if len(problems) > 0 {
				t.Fatal(render(t, problems, false))
			}
			if s.Name != name {
				t.Errorf("%s calls itself %s", name, s.Name)
			}
			if slices.Contains(s.Tags, "portable") != (s.Lock.Use == "") {
				t.Errorf("tags %v with lock %q", s.Tags, s.Lock.Use)
			}
		})
	}
}

// TestAllEmbedded looks for scenario files that the program doesn't come with.
func TestAllEmbedded(t *testing.T) {
	files, err := filepath.Glob("*/*.yaml")
	if err != nil || len(files) < 50 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, f := range files {
		name := strings.TrimSuffix(filepath.ToSlash(f), ".yaml")
		if !strings.HasPrefix(name, "testdata/") && !slices.Contains(List(), name) {
			t.Errorf("%s is not embedded", f)
		}
	}
}

// TestPortable runs the judgement of portable files against each lock that they are meant for.
func TestPortable(t *testing.T) {
	for _, name := range List() {
		_, src, err := Find(name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(name, "/") || !strings.Contains(string(src), "portable") {
			continue
		}
		for _, lock := range []string{"redis/single", "redis/redlock"} {
			s, problems := Load(name, src, testNames(), Setting{"--lock", "lock.use", lock})
			if problems.Failed() || s.Lock.Use != lock {
				t.Errorf("%s with %s: %v", name, lock, problems)
			}
		}
	}
}

// TestSchema compares the schema's keys with what Load takes.
func TestSchema(t *testing.T) {
	var schema map[string]any
	if err := json.Unmarshal(Schema(testNames()), &schema); err != nil {
		t.Fatal(err)
	}
	for _, f := range Fields() {
		if strings.ContainsAny(f.Path, "*[") {
			continue
		}
		at := schema
		for _, part := range strings.Split(f.Path, ".") {
			properties, ok := at["properties"].(map[string]any)
			if !ok {
				t.Fatalf("%s: nothing above it", f.Path)
			}
			if at, ok = properties[part].(map[string]any); !ok {
				t.Fatalf("%s is not in the schema", f.Path)
			}
		}
		if at["description"] == nil {
			t.Errorf("%s is not described", f.Path)
		}
	}
}

func ExampleLoad() {
	src := []byte("version: 1\nname: pause\nlock: { use: redis/single, ttl: 2 }\n")
	names := Names{
		Locks:     map[string]LockName{"redis/single": {Leases: true, Nodes: 1}},
		Workloads: map[string]WorkloadName{"mutex": {}},
		Clusters:  map[string]ClusterName{"auto": {}},
	}
	_, problems := Load("pause.yaml", src, names)
	if err := Render(os.Stdout, problems, false); err != nil {
		fmt.Println(err)
	}
	// Output:
	// error LT007: this duration has no unit
	//  --> pause.yaml:3:33
	//   |
	// 3 | lock: { use: redis/single, ttl: 2 }
	//   |                                 ^ 2 what?
	//   |
	//   = fix: write 2s (units: us, ms, s, m, h)
}

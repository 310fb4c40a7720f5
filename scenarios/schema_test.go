package scenarios

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// schemaOf is the schema as a reader of JSON sees it.
func schemaOf(t *testing.T) map[string]any {
	t.Helper()
	var schema map[string]any
	if err := json.Unmarshal(Schema(testNames()), &schema); err != nil {
		t.Fatal(err)
	}
	return schema
}

// asJSON reads YAML as an editor would check it.
func asJSON(t *testing.T, src []byte) any {
	t.Helper()
	var v, out any
	if err := yaml.Unmarshal(src, &v); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestSchemaTakesTheFiles(t *testing.T) {
	schema := schemaOf(t)
	files := map[string][]byte{}
	for _, name := range List() {
		if strings.Contains(name, "/") {
			continue
		}
		_, src, err := Find(name)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = src
	}
	whole, err := os.ReadFile("testdata/whole.good")
	if err != nil {
		t.Fatal(err)
	}
	files["whole"] = whole
	for name, src := range files {
		if err := fits(schema, asJSON(t, src), name); err != nil {
			t.Error(err)
		}
		s, problems := Load(name, src, testNames())
		if problems.Failed() {
			t.Fatal(problems)
		}
		if err := fits(schema, asJSON(t, Resolved(s)), name+", resolved"); err != nil {
			t.Error(err)
		}
	}
}

func TestSchemaRefusesMistakes(t *testing.T) {
	schema := schemaOf(t)
	for _, file := range []string{"unknown-fault", "no-unit", "triggers", "unknown-keys", "unknown-names", "shapes", "missing", "numbers", "version"} {
		src, err := os.ReadFile("testdata/" + file + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		if file == "version" {
			src = []byte("name: x\n")
		}
		if err := fits(schema, asJSON(t, src), file); err == nil {
			t.Errorf("%s is taken", file)
		}
	}
}

func TestSchemaBoundsCounts(t *testing.T) {
	schema := schemaOf(t)
	for text, ok := range map[string]bool{
		"clients: { count: 1000, threads: 1000 }": true, "clients: { count: 1001 }": false, "clients: { threads: 1001 }": false,
		"workload: { locks: 10000 }": true, "workload: { locks: 10001 }": false, "cluster: { nodes: 101 }": false,
	} {
		if err := fits(schema, asJSON(t, []byte("version: 1\nname: x\n"+text+"\n")), text); (err == nil) != ok {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// fits is as much of JSON Schema as our own schema uses; a keyword that it doesn't know fails the test.
func fits(schema map[string]any, v any, path string) error {
	for _, keyword := range keys(schema) {
		if err := keywordFits(schema, keyword, v, path); err != nil {
			return err
		}
	}
	return nil
}

func keywordFits(schema map[string]any, keyword string, v any, path string) error {
	arg := schema[keyword]
	switch keyword {
	case "$schema", "title", "description":
		return nil
	case "type":
		return typeFits(arg, v, path)
	case "enum":
		if !slices.ContainsFunc(arg.([]any), func(e any) bool { return reflect.DeepEqual(e, v) }) {
			return fmt.Errorf("%s: %v is none of %v", path, v, arg)
		}
	case "pattern":
		if s, ok := v.(string); ok && !regexp.MustCompile(arg.(string)).MatchString(s) {
			return fmt.Errorf("%s: %q doesn't match %s", path, s, arg)
		}
	case "minimum":
		if n, ok := v.(float64); ok && n < arg.(float64) {
			return fmt.Errorf("%s: %v is below %v", path, n, arg)
		}
	case "maximum":
		if n, ok := v.(float64); ok && n > arg.(float64) {
			return fmt.Errorf("%s: %v is above %v", path, n, arg)
		}
	case "minItems":
		if l, ok := v.([]any); ok && float64(len(l)) < arg.(float64) {
			return fmt.Errorf("%s: %d items", path, len(l))
		}
	case "items":
		return itemsFit(arg.(map[string]any), v, path)
	case "properties", "additionalProperties":
		return propertiesFit(schema, v, path)
	case "required":
		return requiredFits(arg.([]any), v, path)
	case "anyOf", "oneOf", "allOf":
		return combinedFits(keyword, arg.([]any), v, path)
	default:
		return fmt.Errorf("%s: keyword %s is not known", path, keyword)
	}
	return nil
}

func typeFits(arg, v any, path string) error {
	kinds, ok := arg.([]any)
	if !ok {
		kinds = []any{arg}
	}
	for _, k := range kinds {
		switch v := v.(type) {
		case string:
			ok = k == "string"
		case bool:
			ok = k == "boolean"
		case float64:
			ok = k == "number" || k == "integer" && v == float64(int64(v)) || k == "integer" && v > 1e15
		case []any:
			ok = k == "array"
		case map[string]any:
			ok = k == "object"
		default:
			ok = false
		}
		if ok {
			return nil
		}
	}
	return fmt.Errorf("%s: %v is not of type %v", path, v, arg)
}

func itemsFit(schema map[string]any, v any, path string) error {
	l, _ := v.([]any)
	for i, item := range l {
		if err := fits(schema, item, fmt.Sprintf("%s[%d]", path, i+1)); err != nil {
			return err
		}
	}
	return nil
}

func propertiesFit(schema map[string]any, v any, path string) error {
	m, _ := v.(map[string]any)
	properties, _ := schema["properties"].(map[string]any)
	for _, key := range keys(m) {
		sub, ok := properties[key].(map[string]any)
		if !ok && schema["additionalProperties"] == false {
			return fmt.Errorf("%s: key %s is not known", path, key)
		}
		if ok {
			if err := fits(sub, m[key], path+"."+key); err != nil {
				return err
			}
		}
	}
	return nil
}

func requiredFits(required []any, v any, path string) error {
	m, ok := v.(map[string]any)
	for _, key := range required {
		if _, has := m[key.(string)]; ok && !has {
			return fmt.Errorf("%s: no %v", path, key)
		}
	}
	return nil
}

func combinedFits(keyword string, list []any, v any, path string) error {
	n := 0
	var last error
	for _, s := range list {
		if err := fits(s.(map[string]any), v, path); err != nil {
			last = err
		} else {
			n++
		}
	}
	if keyword == "anyOf" && n > 0 || keyword == "oneOf" && n == 1 || keyword == "allOf" && n == len(list) {
		return nil
	}
	return fmt.Errorf("%s: %d of %d schemas of %s fit: %w", path, n, len(list), keyword, last)
}

func TestNoLock(t *testing.T) {
	src := []byte("version: 1\nname: x\nlock: { ttl: 3s }\n")
	s, problems := Load("x.yaml", src, testNames())
	if problems.Failed() {
		t.Fatal(problems)
	}
	p := NoLock(s, src)
	if p.Place.String() != "x.yaml:3:7" || p.Code != CodeNoLock {
		t.Errorf("%+v", p)
	}
	if got := (Problems{p, p}).Unique(); len(got) != 1 {
		t.Errorf("%d problems", len(got))
	}
}

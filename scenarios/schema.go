package scenarios

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// object is a piece of a JSON Schema.
type object = map[string]any

// Schema returns a JSON Schema (draft 2020-12) for editors: completion, and most mistakes underlined. Load is stricter,
// and its messages are the ones that people should read.
func Schema(names Names) []byte {
	root := slotSchema(names, "")
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = "locktest scenario"
	root["description"] = fmt.Sprintf("A scenario file of locktest, version %d of the format.", FormatVersion)
	out, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		panic(fmt.Sprintf("scenarios: schema without JSON form: %v", err))
	}
	return append(out, '\n')
}

// slotSchema describes the mapping whose keys stand directly below path.
func slotSchema(names Names, path string) object {
	properties, required := object{}, []string{}
	for _, f := range Fields() {
		rest, ok := strings.CutPrefix(f.Path, prefix(path))
		if !ok || strings.ContainsAny(rest, ".*[") {
			continue
		}
		properties[rest] = fieldSchema(names, f)
		if f.Required {
			required = append(required, rest)
		}
	}
	if path == "cluster" {
		for name, o := range names.serverOptions("") {
			properties[name] = optionSchema(o)
		}
	}
	out := object{"type": "object", "additionalProperties": false, "properties": properties}
	if len(required) > 0 {
		out["required"] = required
	}
	return out
}

func fieldSchema(names Names, f Field) object {
	out := shapeSchema(names, f)
	out["description"] = f.About
	if f.Default != "" {
		out["description"] = f.About + " (default: " + f.Default + ")"
	}
	return out
}

// shapeSchema describes the value of a field.
func shapeSchema(names Names, f Field) object {
	if f.Values != nil {
		return object{"enum": f.Values}
	}
	switch f.Path {
	case "lock.use":
		return enum(names.Locks)
	case "cluster.kind":
		return enum(names.Clusters)
	case "workload.use":
		return enum(names.Workloads)
	case "workload.resource":
		return enum(names.Resources)
	case "workload.store":
		return enum(names.Stores)
	case "workload.extend":
		return object{"type": "string", "pattern": "^(never|" + durationPattern + ")$"}
	case "faults":
		return object{"type": "array", "items": faultSchema(names)}
	case "expect":
		return expectSchema(names)
	case "thresholds":
		return thresholdsSchema(names)
	case "lock.options", "clients.options":
		return object{"type": "object"}
	}
	return syntaxSchema(names, f)
}

const durationPattern = `([0-9]+(\.[0-9]+)?(ns|us|ms|s|m|h))+`

func syntaxSchema(names Names, f Field) object {
	switch f.Syntax {
	case Duration:
		return object{"type": "string", "pattern": "^" + durationPattern + "$"}
	case Span:
		return object{"type": "string", "pattern": "^" + durationPattern + `( ?\.\. ?` + durationPattern + ")?$"}
	case Count:
		out := object{"type": "integer", "minimum": f.Min}
		if f.Max > 0 {
			out["maximum"] = f.Max
		}
		return out
	case Number:
		return object{"type": "integer", "minimum": 0}
	case Signed:
		return object{"type": "string", "pattern": `^[+-]?\d+(\.\d+)?(us|ms|s|m|h)`}
	case Bytes:
		return object{"type": "string", "pattern": `^[0-9]+(\.[0-9]+)?[kM]?B/s$`}
	case Factor:
		return object{"type": "number", "minimum": 0}
	case Percent:
		return object{"type": "string", "pattern": `^[0-9]+(\.[0-9]+)?%$`}
	case Flag:
		return object{"type": "boolean"}
	case Texts:
		return object{"type": "array", "items": object{"type": "string"}}
	case Slot:
		return slotSchema(names, f.Path)
	}
	return object{"type": "string"}
}

func enum[V any](m map[string]V) object { return object{"enum": keys(m)} }

func optionSchema(o OptionName) object {
	if o.Values != nil {
		return object{"enum": o.Values, "description": o.About}
	}
	return object{"type": []string{"string", "number", "boolean"}, "description": o.About}
}

func faultSchema(names Names) object {
	out := slotSchema(names, "faults[]")
	properties := out["properties"].(object)
	var kinds, whens []object
	for _, kind := range keys(names.Faults) {
		properties[kind] = kindSchema(names, kind, names.Faults[kind])
		kinds = append(kinds, object{"required": []string{kind}})
	}
	for _, t := range triggers() {
		whens = append(whens, object{"required": []string{t}})
	}
	out["allOf"] = []object{{"oneOf": whens}, {"oneOf": kinds}}
	return out
}

// kindSchema describes the short form, a target, and the mapping form.
func kindSchema(names Names, kind string, f FaultName) object {
	target := targetSchema(f)
	if f.Kinds {
		others := slices.DeleteFunc(keys(names.Faults), func(k string) bool { return names.Faults[k].Kinds })
		target = object{"type": "array", "items": object{"enum": others}}
	}
	properties := object{}
	for _, arg := range f.Args {
		if arg == "of" || arg == "to" {
			properties[arg] = target
			continue
		}
		for _, field := range Fields() { // those of one kind come later
			if field.Path == "faults[]."+anyKind+"."+arg || field.Path == "faults[]."+kind+"."+arg {
				properties[arg] = fieldSchema(names, field)
			}
		}
	}
	full := object{"type": "object", "additionalProperties": false, "properties": properties}
	if len(f.Required) > 0 {
		full["required"] = f.Required
	}
	if f.Kinds {
		return object{"description": f.About, "anyOf": []object{full}}
	}
	return object{"description": f.About, "anyOf": []object{target, full}}
}

func targetSchema(f FaultName) object {
	var words []string
	var patterns []string
	for _, t := range f.Targets {
		switch t {
		case NamedNode:
			patterns = append(patterns, "n[1-9][0-9]*")
		case NamedClient:
			patterns = append(patterns, "c[1-9][0-9]*")
		default:
			words = append(words, t)
		}
	}
	forms := []object{}
	if len(words) > 0 {
		forms = append(forms, object{"enum": words})
	}
	if len(patterns) > 0 {
		name := object{"type": "string", "pattern": "^(" + strings.Join(patterns, "|") + ")$"}
		forms = append(forms, name, object{"type": "array", "minItems": 1, "items": name})
	}
	if f.Groups {
		member := object{"type": "string", "pattern": "^(nodes|clients|[nc][1-9][0-9]*)$"}
		forms = append(forms, object{"type": "array", "minItems": 2, "items": object{"type": "array", "minItems": 1, "items": member}})
	}
	return object{"anyOf": forms}
}

func expectSchema(names Names) object {
	properties := object{}
	d := &decoder{names: names}
	for _, name := range d.propertyNames() {
		p := d.property(name)
		full := object{}
		for _, f := range Fields() {
			key, ok := strings.CutPrefix(f.Path, "expect."+anyKind+".")
			if ok && (key == "verdict" || key == "because" || p.takes(key)) {
				full[key] = fieldSchema(names, f)
			}
		}
		properties[name] = object{"description": p.About, "anyOf": []object{
			{"enum": []string{"held", "any"}},
			{"type": "object", "additionalProperties": false, "properties": full},
		}}
	}
	return object{"type": "object", "additionalProperties": false, "properties": properties}
}

func thresholdsSchema(names Names) object {
	properties := object{}
	for _, name := range keys(names.Metrics) {
		bound := names.Metrics[name].bound()
		full := object{}
		for _, f := range Fields() {
			key, ok := strings.CutPrefix(f.Path, "thresholds."+anyKind+".")
			if ok && (key == bound || key == "during") {
				full[key] = fieldSchema(names, f)
			}
		}
		if names.Metrics[name].Rate {
			full["min"] = object{"type": "number", "minimum": 0, "description": "lower bound of a number a second"}
		}
		properties[name] = object{"type": "object", "additionalProperties": false, "required": []string{bound}, "properties": full, "description": names.Metrics[name].About}
	}
	return object{"type": "object", "additionalProperties": false, "properties": properties}
}

package scenarios

import (
	"fmt"
	"regexp"
)

// FormatVersion is the version of the format that Load reads.
const FormatVersion = 1

// Load reads one file. file is its name as it was given; it is only told, nothing is opened. Settings replace or add
// single values before the file is judged, in their order.
//
// With an error among the problems the scenario is nil; warnings alone leave it to the caller.
func Load(file string, src []byte, names Names, settings ...Setting) (*Scenario, Problems) {
	s := newSource(file, src)
	root, problem := parse(s, src)
	if problem != nil {
		problems := Problems{*problem}
		problems.discreet()
		return nil, problems
	}
	d := newDecoder(names)
	d.places[""] = s.place(1, 1, 1)
	for _, set := range settings {
		if p := root.set(set); p != nil {
			d.report(*p)
		}
	}
	d.scenario.File = file
	d.file(root)
	d.lint()
	d.problems.sort()
	d.problems.discreet()
	if d.problems.Failed() {
		return nil, d.problems
	}
	return &d.scenario, d.problems
}

func (d *decoder) file(root *node) {
	if root.shape == null {
		d.fail("", Problem{Code: CodeMissing, Message: "the file is empty", Place: d.at("", "a scenario is expected")})
		return
	}
	d.places[""] = root.place
	r := d.slot(root, "", "")
	s := &d.scenario
	if root.shape != mapping {
		return
	}
	s.Version = d.version(r)
	s.Name = d.name(r)
	s.About = r.text("about")
	s.Tags = r.texts("tags")
	s.Lock = d.lock(r.values["lock"])
	s.Cluster = d.cluster(r.values["cluster"])
	s.Clients = d.clients(r.values["clients"])
	s.Workload = d.workload(r.values["workload"])
	s.Run = d.run(r.values["run"])
	s.Faults = d.faults(r.values["faults"])
	s.Expect = d.expect(r.values["expect"])
	s.Thresholds = d.thresholds(r.values["thresholds"])
	e := d.slot(r.values["evidence"], "evidence", "evidence")
	s.Evidence = Evidence{MinAcquires: e.count("min-acquires"), MinHits: e.count("min-hits")}
}

func (d *decoder) version(r *reader) int {
	v := r.count("version")
	if d.sound("version") && v != FormatVersion {
		d.fail("version", Problem{
			Code: CodeVersion, Message: fmt.Sprintf("version %d of the format is not known", v),
			Place: d.at("version", "not this one"), Fix: fmt.Sprintf("write %d", FormatVersion),
		})
	}
	return v
}

func (d *decoder) name(r *reader) string {
	name := r.text("name")
	if d.sound("name") && !regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`).MatchString(name) {
		d.fail("name", Problem{
			Code: CodeName, Message: fmt.Sprintf("%q is not a name", name),
			Place: d.at("name", "lower-case letters, digits and dashes"), So: "a run's folder is named after it",
		})
	}
	return name
}

package main

import (
	"strings"
	"testing"
)

// A mistake on the command line is told with what was expected, and with an example or what is likely to be meant.
func TestMistakesOnTheCommandLine(t *testing.T) {
	t.Chdir(t.TempDir())
	for line, says := range map[string][]string{
		"frob":                            {`no command "frob"`, "its commands are help, "},
		"lisst":                           {"did you mean locktest list?"},
		"lease":                           {"locktest explain lease"},
		"help frob":                       {`no command "frob"`, "its commands are help, "},
		"help rnu":                        {"did you mean locktest run?"},
		"help run frob":                   {"locktest help run"},
		"help list opps":                  {"did you mean locktest list ops?"},
		"baseline wrtie":                  {"did you mean locktest baseline write?"},
		"baseline show":                   {"locktest baseline write latest --because"},
		"baseline write":                  {"--because is missing", "an example: locktest baseline write latest"},
		"completion frob":                 {"its commands are bash, fish, "},
		"run":                             {"no scenario was given", "an example: locktest run quickstart"},
		"check":                           {"expected RUN|HISTORY...", "an example: locktest check runs/latest"},
		"check latest":                    {"there is no latest run", "locktest run quickstart"},
		"check nope":                      {"no run \"nope\"", "which has 0 runs", "locktest list runs"},
		"validate":                        {"expected SCENARIO...", "an example: locktest validate "},
		"report a b":                      {"expected [RUN|HISTORY], there is a b", "an example: locktest report latest"},
		"report":                          {"there is no latest run"},
		"list ops":                        {"there is no latest run", "locktest run quickstart"},
		"list ops a b":                    {"expected [RUN|HISTORY]", "an example: locktest list ops latest"},
		"list frob":                       {"expected one of ops, clusters, ", "an example: locktest list locks"},
		"list fault":                      {"did you mean locktest list faults?"},
		"schema frob":                     {"expected scenario or client", "an example: locktest schema scenario"},
		"compare":                         {"expected ", "an example: locktest compare --lock "},
		"version x":                       {"no argument was expected, there is x"},
		"run quickstart --sed 3":          {"no flag --sed", "did you mean --seed?"},
		"run quickstart --seed":           {"--seed needs a value"},
		"run quickstart --repeat abc":     {"--repeat abc: expected a number"},
		"run quickstart --timeout 3":      {"expected a time with its unit"},
		"run quickstart --color=sometime": {"expected auto, always or never"},
		"explain fencing tokn":            {"did you mean fencing token"},
	} {
		t.Run(line, func(t *testing.T) {
			r := locktest(t, strings.Fields(line)...)
			if r.status != 64 {
				t.Errorf("status %d\n%s", r.status, r.stdout)
			}
			for _, s := range append(says, "fix") {
				if !strings.Contains(strings.Join(strings.Fields(r.stderr), " "), s) {
					t.Errorf("without %q:\n%s", s, r.stderr)
				}
			}
		})
	}
	for _, line := range []string{"help", "help run", "help list ops", "baseline", "completion bash", "run --help"} {
		if r := locktest(t, strings.Fields(line)...); r.status != 0 || r.stdout == "" {
			t.Errorf("%s: status %d\n%s", line, r.status, r.stderr)
		}
	}
}

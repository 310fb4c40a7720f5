package scenarios

// The codes of problems. A code never changes its meaning.
const (
	CodeSyntax       = "LT001"
	CodeFeature      = "LT002"
	CodeUnknownKey   = "LT003"
	CodeTwice        = "LT004"
	CodeShape        = "LT005"
	CodeMissing      = "LT006"
	CodeDuration     = "LT007"
	CodeNumber       = "LT008"
	CodeUnknownName  = "LT009"
	CodeFault        = "LT010"
	CodeTarget       = "LT011"
	CodeShared       = "LT012"
	CodeLock         = "LT013"
	CodeBecause      = "LT014"
	CodeNoTokens     = "LT015"
	CodeNoLock       = "LT016"
	CodeTimes        = "LT017"
	CodeMeaningless  = "LT018"
	CodeName         = "LT019"
	CodeVersion      = "LT020"
	CodeTooBig       = "LT021"
	CodeEndpoint     = "LT022"
	CodeShortPause   = "LT031"
	CodeNeverRuns    = "LT032"
	CodeShortSettle  = "LT033"
	CodeEvidence     = "LT034"
	CodeNothingFails = "LT035"
	CodeCutShort     = "LT036"
)

// Code is a code with its explanation.
type Code struct{ Code, About string }

// Codes lists every code that a scenario file can meet, in order.
func Codes() []Code {
	return []Code{
		{CodeSyntax, "The file is not YAML. Nothing behind this place was read."},
		{CodeFeature, "Anchors, aliases, tags, merge keys and several documents in one file are not part of a scenario: write each value where it is meant."},
		{CodeUnknownKey, "No such key here. Keys are read strictly, so that a misspelt one cannot be ignored."},
		{CodeTwice, "A key or a target stands twice."},
		{CodeShape, "A value of another shape is expected: text, a list or a mapping."},
		{CodeMissing, "Something that has no default is missing."},
		{CodeDuration, "Not a duration, or not a range of durations. Each has a unit (us, ms, s, m, h), as in 200ms, or 50ms..400ms for a range."},
		{CodeNumber, "Not a number, or not a percentage, or outside of what makes sense."},
		{CodeUnknownName, "No lock, workload, fault, property, metric or other thing has this name."},
		{CodeFault, "A fault has exactly one trigger (at, every or on) and exactly one kind."},
		{CodeTarget, "There is no such node or client, or this kind of fault cannot be aimed at it."},
		{CodeShared, "Clients that share a process have no process of their own that could be harmed."},
		{CodeLock, "The lock cannot do this, or does not run this way."},
		{CodeBecause, "A violation that is expected needs its reason: because."},
		{CodeNoTokens, "The lock gives no fencing tokens, so this property does not apply to it."},
		{CodeNoLock, "The scenario is portable: it names no lock, and none was given."},
		{CodeTimes, "Times that do not fit into each other."},
		{CodeMeaningless, "This key means nothing here."},
		{CodeName, "Names are made of lower-case letters, digits and dashes."},
		{CodeVersion, "A scenario file says which version of the format it is in."},
		{CodeTooBig, "The file is larger, or nested deeper, than any scenario."},
		{CodeEndpoint, "An endpoint is HOST:PORT, and no URL."},
		{CodeShortPause, "A pause that always ends before the lease does: the scenario cannot show a lease that ends while its holder is stopped."},
		{CodeNeverRuns, "A fault that never begins."},
		{CodeShortSettle, "The settle phase is shorter than a lease, so a lock that was left behind is not free again before the end."},
		{CodeEvidence, "More evidence is asked for than the schedule can bring about: the run will be inconclusive."},
		{CodeNothingFails, "The scenario asks for something that this lock gives no means to check."},
		{CodeCutShort, "A fault that reaches into the settle phase is healed when that begins."},
	}
}

package cluster

// Error is one about the environment that a person can mend: the command prints it with its details and fixes, one a line.
type Error struct {
	Code    string   // LT101
	Message string   // one sentence without a full stop: "redis-server was not found"
	Details []string // "looked in: …"
	Fix     []string // what to do: one of them is enough
	Err     error    // what caused it, or nil
}

// Codes of errors about the environment.
const (
	CodeNoBinary   = "LT101" // a server's program was not found
	CodePortInUse  = "LT102" // the port that a scenario fixes is taken
	CodeServerDied = "LT103" // a server ended, or didn't answer in time
	CodeUnhostable = "LT104" // this kind of cluster can't run this server
	CodeNoEngine   = "LT106" // no container engine answers
	CodeNoImage    = "LT107" // an image isn't there, and can't be had

	CodeUnreachable = "LT108" // a server of somebody else's can't be reached
	CodeAccess      = "LT109" // what is needed to enter a server isn't there
)

func (e *Error) Error() string {
	if e.Err != nil {
		return e.Message + ": " + e.Err.Error()
	}
	return e.Message
}

func (e *Error) Unwrap() error { return e.Err }

// Tell takes e apart for a report.
func (e *Error) Tell() (code, message string, details, fix []string) {
	details = e.Details
	if e.Err != nil {
		details = append(details[:len(details):len(details)], "cause: "+e.Err.Error())
	}
	return e.Code, e.Message, details, e.Fix
}

package scenarios

// Report is a problem as data, for documents that programs read.
type Report struct {
	Code     string   `json:"code"`
	Severity Severity `json:"severity"`
	File     string   `json:"file"`
	Line     int      `json:"line"`   // from 1
	Column   int      `json:"column"` // from 1, in characters
	Message  string   `json:"message"`
	So       string   `json:"so,omitempty"`
	Fix      string   `json:"fix,omitempty"`
	All      []string `json:"all,omitempty"` // what could stand there instead
}

// Reports returns every problem as data, in their order; never nil.
func (p Problems) Reports() []Report {
	out := make([]Report, len(p))
	for i, q := range p {
		out[i] = Report{Code: q.Code, Severity: q.Severity, File: q.Place.File, Line: q.Place.Line, Column: q.Place.Column, Message: q.Message, So: q.So, Fix: q.Fix, All: q.All}
	}
	return out
}

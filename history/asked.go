package history

import "encoding/json"

// Asked is the data of the one Observed event that has no name: who said after a run what is left on the servers.
type Asked struct {
	Answered int `json:"answered"` // nodes that said it
	Nodes    int `json:"nodes"`    // that there are
	Asked    int `json:"asked"`    // locks that they were asked about
	Locks    int `json:"locks"`    // that there are
}

// Asked returns it; false: o is another event, or makes no sense.
func (o *Op) Asked() (a Asked, ok bool) {
	if o.Type != Observed || o.Name != "" || len(o.Data) == 0 || json.Unmarshal(o.Data, &a) != nil {
		return Asked{}, false
	}
	return a, a.Answered >= 0 && a.Answered <= a.Nodes && a.Asked >= 0 && a.Asked <= a.Locks
}

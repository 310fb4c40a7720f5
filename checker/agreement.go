package checker

// Agreement is what the second engine said of one lock or resource, beside the first.
type Agreement struct {
	Lock    string `json:"lock"`  // or resource
	Model   string `json:"model"` // mutex, fenced mutex, belief exclusion, fenced register
	Engine  string `json:"engine"`
	Answer  string `json:"answer"` // legal, illegal; empty: none
	Sweep   string `json:"sweep"`  // legal, illegal
	Agrees  bool   `json:"agrees"` // false with an empty Answer is no disagreement
	Because string `json:"because,omitempty"`
}

// Disagrees says whether both engines have an answer, and not the same one.
func (a Agreement) Disagrees() bool { return a.Answer != "" && !a.Agrees }

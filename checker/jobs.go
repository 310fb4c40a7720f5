package checker

import (
	"encoding/json"
	"fmt"
)

// DuplicateRun is a kind of finding of ResourceSafety: a job took effect twice. Whoever retries what may have happened
// already runs into it, under a correct lock too.
const DuplicateRun = "duplicate-run"

// duplicates finds accepted writes that ran one job.
func (j *resourceJudge) duplicates() {
	first := map[int]int32{}
	for _, i := range j.t.ops {
		job, ok := j.job(i)
		if !ok || !j.accepted(i) {
			continue
		}
		j.r.numbers["jobs"]++
		before, again := first[job]
		if !again {
			first[job] = i
			continue
		}
		j.r.numbers["duplicate_runs"]++
		f := j.finding(DuplicateRun, ClientParty, i, before)
		f.At = j.v.ops[i].call
		f.Message = fmt.Sprintf("job %d of %s was run twice: by %s at %s and again by %s at %s.",
			job, quoted(j.t.Name), j.who(before), seconds(j.v.ops[before].call), j.who(i), seconds(j.v.ops[i].call))
		j.r.add(f)
	}
}

// job is the number of the job that write i runs; false for other writes, and for those that only mark one as done.
func (j *resourceJudge) job(i int32) (job int, ok bool) {
	o := &j.v.ops[i]
	if o.act != write {
		return 0, false
	}
	data := j.v.called(o).Data
	if len(data) == 0 {
		data = j.v.done(o).Data
	}
	var payload struct {
		Job  *int `json:"job"`
		Done bool `json:"done"`
	}
	if len(data) == 0 || json.Unmarshal(data, &payload) != nil || payload.Job == nil || payload.Done {
		return 0, false
	}
	return *payload.Job, true
}

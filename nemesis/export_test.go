package nemesis

// Together is e with one ledger for all that is done in it, as in a run: without, faults know nothing of each other.
func (e Env) Together() Env {
	e.ledger = newLedger(e)
	return e
}

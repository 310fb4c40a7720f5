package proxy

import "testing"

func TestMatches(t *testing.T) {
	for _, tt := range []struct {
		text, match string
		want        bool
	}{
		{"SET k v", "", true},
		{"SET k v", "set", true},
		{"SET k v", "SET k", true},
		{"SETEX k 1 v", "SET", false},
		{"SET", "SET", true},
		{"SET", "SET k", false},
		{"SELECT pg_advisory_lock(1)", "select PG_ADVISORY_LOCK", true},
		{"SELECT pg_advisory_lock_shared(1)", "SELECT pg_advisory_lock", false},
		{"create /locktest/orders", "create /locktest/", true},
		{"KV/Txn", "KV", true},
		{"KVStore/Txn", "KV", false},
		{"", "SET", false},
	} {
		if got := matches(tt.text, tt.match); got != tt.want {
			t.Errorf("matches(%q, %q) = %v", tt.text, tt.match, got)
		}
	}
}

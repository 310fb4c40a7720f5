//go:build !linux && !darwin

package postgres

// removeShared has nothing to remove: no server is started on such a platform.
func removeShared(int) error { return nil }

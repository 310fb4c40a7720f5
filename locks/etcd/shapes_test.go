//go:build integration

package etcd_test

import (
	"testing"
)

func TestLeaseOnThree(t *testing.T) { conform(t, 3) }

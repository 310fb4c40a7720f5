//go:build integration

package zookeeper_test

import (
	"testing"
)

func TestEphemeralOnThree(t *testing.T) { conform(t, 3) }

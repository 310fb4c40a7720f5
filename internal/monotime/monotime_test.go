package monotime

import (
	"testing"
	"time"
)

func TestNowNeverDecreases(t *testing.T) {
	last := Now()
	if last <= 0 {
		t.Fatalf("Now() = %v, want more than 0", last)
	}
	for range 10_000 {
		n := Now()
		if n < last {
			t.Fatalf("Now() went back from %v to %v", last, n)
		}
		last = n
	}
}

// A difference of Now lies between the differences of the standard clock read inside and outside of it.
func TestNowAgreesWithTheStandardClock(t *testing.T) {
	outer := time.Now()
	m1 := Now()
	inner := time.Now()
	for time.Since(inner) < 5*time.Millisecond {
	}
	least := time.Since(inner)
	d := Now() - m1
	most := time.Since(outer)
	const slew = 100 * time.Microsecond
	if d < least-slew || d > most+slew {
		t.Errorf("Now advanced by %v, the standard clock by %v to %v", d, least, most)
	}
}

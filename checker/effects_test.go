package checker

import (
	"testing"

	"github.com/locktest/locktest/history"
)

// A pause lets a lease end under its holder, who writes on top of what the next one wrote and learns of its loss late.
func TestEffects(t *testing.T) {
	h, err := history.ParseTextString(`
lock L expiry=lease ttl=100 tokens=grant owner-checked release-held validity
resource x ordered
fault pause
a:A[0,10]tok=1,valid=95 a:D[11,12]on=x,tok=1 fault1:begin[20]targets=a,kind=pause
b:A[120,130]tok=2,valid=215 b:D[131,132]on=x,tok=2 b:W[140,141]on=x,v=1,tok=2
fault1:end[150] a:W[151,152]on=x,v=2,tok=1 a:N[155,160] b:R[170,175]
`)
	if err != nil {
		t.Fatal(err)
	}
	numbers := map[string]float64{}
	for _, r := range Run(t.Context(), h, All(), Options{}) {
		if r.Property == Coverage {
			numbers = r.Numbers
		}
	}
	for key, want := range map[string]float64{"fault_1_overlap_s": 0.025, "fault_1_lost_updates_percent": 100, "fault_1_notice_s": 0.055, "fault_1_free_s": 0.110} {
		if got := numbers[key]; got < want-0.0001 || got > want+0.0001 {
			t.Errorf("%s is %v, want %v", key, got, want)
		}
	}
}

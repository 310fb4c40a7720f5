package proc

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFollow(t *testing.T) {
	tests := []struct {
		name, words string
		farewell    bool
		roots       map[int]string
		mark        string
		dirs        []string
	}{
		{"nothing", "", false, map[int]string{}, "", nil},
		{"starts and ends", "mark A=1\n+ 10 5\n+ 11 6\n- 10 5\n", false, map[int]string{11: "6"}, "A=1", nil},
		{"the end of an older process with that pid", "+ 10 5\n- 10 4\n", false, map[int]string{10: "5"}, "", nil},
		{"farewell", "+ 10 5\nend\n+ 11 6\n", true, map[int]string{10: "5"}, "", nil},
		{"a line cut short", "+ 10 5\n+", false, map[int]string{10: "5"}, "", nil},
		{"init and groups", "+ 1 5\n+ 0 5\n+ -7 5\n", false, map[int]string{}, "", nil},
		{"folders", "dir /tmp/locktest-1\ndir /home\ndir locktest-2\n", false, map[int]string{}, "", []string{"/tmp/locktest-1"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := &watch{hunt: hunt{roots: map[int]string{}, seen: map[int]string{}}}
			if got := w.follow(strings.NewReader(tt.words)); got != tt.farewell {
				t.Errorf("farewell: %v, want %v", got, tt.farewell)
			}
			if diff := cmp.Diff(tt.roots, w.hunt.roots); diff != "" {
				t.Errorf("roots (-want +got):\n%s", diff)
			}
			if w.hunt.mark != tt.mark || !cmp.Equal(w.dirs, tt.dirs) {
				t.Errorf("mark %q and folders %v, want %q and %v", w.hunt.mark, w.dirs, tt.mark, tt.dirs)
			}
		})
	}
}

func FuzzHear(f *testing.F) {
	for _, line := range []string{"", "+ 10 5", "- 10 5", "mark A=B", "dir /tmp/locktest-x", "+ 99999999999999999999 1", "+ -1 1", "dir /"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		w := &watch{hunt: hunt{roots: map[int]string{}, seen: map[int]string{}}}
		w.hear(line)
		for pid := range w.hunt.roots {
			if pid <= 1 {
				t.Errorf("%q made it watch over process %d", line, pid)
			}
		}
		for _, d := range w.dirs {
			if checkTemp(d) != nil {
				t.Errorf("%q would have it remove %q", line, d)
			}
		}
	})
}

func TestPrey(t *testing.T) {
	at := func(pid, parent, group int, start string) entry {
		return entry{identity: identity{pid, start}, parent: parent, group: group}
	}
	zombie := at(15, 10, 10, "9")
	zombie.dead = true
	h := hunt{roots: map[int]string{10: "1", 20: "1"}, seen: map[int]string{40: "4", 41: "4"}}
	table := []entry{
		at(1, 0, 1, "0"), at(2, 1, 2, "0"),
		at(10, 2, 10, "1"), at(11, 10, 10, "2"), at(12, 11, 12, "3"), zombie, // a tree, with a session of its own in it
		at(21, 1, 20, "2"), at(22, 21, 22, "2"), // what is left of the group of a dead root, and its child
		at(40, 1, 40, "4"), at(41, 1, 41, "7"), // seen before; another with a pid that was seen before
	}
	var got []int
	for _, e := range h.prey(table) {
		got = append(got, e.pid)
	}
	if diff := cmp.Diff([]int{10, 11, 12, 21, 22, 40}, got); diff != "" {
		t.Errorf("prey (-want +got):\n%s", diff)
	}
	reused := append(table, at(20, 1, 20, "8")) // somebody else's by now
	for _, e := range h.prey(reused) {
		if e.pid == 20 || e.pid == 21 {
			t.Errorf("process %d would be killed, in the group of a process that isn't ours", e.pid)
		}
	}
}

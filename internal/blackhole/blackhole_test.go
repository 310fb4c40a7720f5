package blackhole

import "testing"

func TestMatch(t *testing.T) {
	for _, tt := range []struct {
		flow Flow
		want string
	}{
		{Flow{"127.0.0.1:4", "127.1.2.3:5"}, "-p tcp -s 127.0.0.1 --sport 4 -d 127.1.2.3 --dport 5"},
		{Flow{Dest: "127.0.0.1:5"}, "-p tcp -d 127.0.0.1 --dport 5"},
		{Flow{Source: "127.0.0.1:5"}, "-p tcp -s 127.0.0.1 --sport 5"},
		{Flow{}, ""},
		{Flow{Dest: "10.0.0.1:5"}, ""},
		{Flow{Dest: "127.0.0.1"}, ""},
		{Flow{Dest: "localhost:5"}, ""},
		{Flow{Dest: "[::1]:5"}, ""},
		{Flow{Dest: "127.0.0.1:5 -j ACCEPT"}, ""},
	} {
		got, err := tt.flow.match()
		if got != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%+v: %q, %v; want %q", tt.flow, got, err, tt.want)
		}
	}
}

package proc

import "testing"

func TestListenLine(t *testing.T) {
	const listens = "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 123456 1 0000 100 0 0 10 0"
	tests := []struct {
		name, line string
		port       int
		inode      string
	}{
		{"listens", listens, 8080, "123456"},
		{"another port", listens, 8081, ""},
		{"a connection", "   1: 0100007F:1F90 0100007F:9C40 01 00000000:00000000 00:00000000 00000000 0 0 7 1", 8080, ""},
		{"the heading", "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode", 8080, ""},
		{"IPv6", "   0: 00000000000000000000000001000000:1F90 00000000000000000000000000000000:0000 0A 0:0 00:0 0 0 0 99 1", 8080, "99"},
		{"empty", "", 8080, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inode, ok := listenLine(tt.line, tt.port)
			if ok != (tt.inode != "") || ok && inode != tt.inode {
				t.Errorf("listenLine() = %q, %v; want %q", inode, ok, tt.inode)
			}
		})
	}
}

//go:build unix

package proc

import (
	"os/exec"
	"testing"
)

func TestIdentOfTheLivingAndTheDead(t *testing.T) {
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ident := Ident(cmd.Process.Pid)
	for _, of := range []string{OwnIdent(), ident} {
		if alive, err := Lives(of); !alive || err != nil {
			t.Errorf("%q lives: %v, %v", of, alive, err)
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	awaitExit(cmd.Process.Pid)
	if alive, err := Lives(ident); alive || err != nil {
		t.Errorf("%q, a zombie, lives: %v, %v", ident, alive, err)
	}
	cmd.Wait()
	for _, of := range []string{ident, "", "1", "-", "1-0"} {
		if alive, err := Lives(of); alive || err != nil {
			t.Errorf("%q lives: %v, %v", of, alive, err)
		}
	}
	if got := Ident(cmd.Process.Pid); got != "" {
		t.Errorf("a process that is gone is %q", got)
	}
}

package vclock

import (
	"bytes"
	"context"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// Clock is the handle on one process's clocks.
type Clock struct {
	pid  int
	mem  *os.File
	base int64 // of the blob in the process
	slot byte  // in force
	now  Offset
}

// Supported says whether this platform can do it at all. A kernel that forbids it shows with the first Attach.
func Supported() error { return nil }

// Attach patches the process. It stops it for some milliseconds, unless it is stopped already, and leaves it as it was. A
// process whose parent was patched before its fork has the patch, and its offset, already.
func Attach(ctx context.Context, pid int) (*Clock, error) {
	c := &Clock{pid: pid}
	if err := c.attach(ctx); err != nil {
		c.Close()
		return nil, fmt.Errorf("shift the clock of process %d: %w", pid, err)
	}
	return c, nil
}

func (c *Clock) attach(ctx context.Context) error {
	from, to, err := vdso(c.pid)
	if err != nil {
		return err
	}
	if c.mem, err = os.OpenFile(fmt.Sprintf("/proc/%d/mem", c.pid), os.O_RDWR, 0); err != nil {
		return fmt.Errorf("%w (%w)", ErrUnsupported, err)
	}
	image := make([]byte, to-from)
	if _, err := c.mem.ReadAt(image, from); err != nil && err != io.EOF {
		return err
	}
	p, err := plan(image, from)
	if err != nil {
		return err
	}
	c.base, c.slot = p.base, p.slot
	if p.patched {
		return c.read()
	}
	return stopped(ctx, c.pid, p.avoid, func() error { return c.write(p) })
}

// patch is what has to be written where.
type patch struct {
	base    int64
	slot    byte
	patched bool
	jumps   map[int64][]byte
	avoid   []int64 // no thread may stand inside of these
}

// jumpLen is the length of the instruction that replaces a function's beginning.
const jumpLen = 5

// plan finds the functions in the vDSO's image and room at its end.
func plan(image []byte, from int64) (patch, error) {
	code := blob()
	off := (int64(len(image)) - int64(len(code))) &^ 63
	if off < 0 {
		return patch{}, fmt.Errorf("%w: the vDSO has %d bytes", ErrUnsupported, len(image))
	}
	ours := bytes.Equal(image[off+codeBegins:off+int64(len(code))], code[codeBegins:])
	if !ours && !bytes.Equal(image[off:], make([]byte, int64(len(image))-off)) {
		return patch{}, fmt.Errorf("%w: there is no room at the end of the vDSO", ErrUnsupported)
	}
	p := patch{base: from + off, slot: image[off+atIndex], patched: ours, jumps: map[int64][]byte{}}
	file, err := elf.NewFile(bytes.NewReader(image))
	if err != nil {
		return patch{}, fmt.Errorf("read the vDSO: %w", err)
	}
	symbols, err := file.DynamicSymbols()
	if err != nil {
		return patch{}, fmt.Errorf("read the vDSO: %w", err)
	}
	for _, s := range symbols {
		to, ok := entries()[s.Name]
		if !ok {
			continue
		}
		at := from + int64(s.Value)
		p.jumps[at] = jump(at, p.base+to)
		p.avoid = append(p.avoid, at)
	}
	if len(p.jumps) != len(entries()) {
		return patch{}, fmt.Errorf("%w: the vDSO has %d of %d functions", ErrUnsupported, len(p.jumps), len(entries()))
	}
	return p, nil
}

// jump is a near jump from one place to another.
func jump(at, to int64) []byte {
	b := make([]byte, jumpLen)
	b[0] = 0xe9
	binary.LittleEndian.PutUint32(b[1:], uint32(int32(to-(at+jumpLen))))
	return b
}

// write puts the code into the process, and then the jumps to it.
func (c *Clock) write(p patch) error {
	if _, err := c.mem.WriteAt(blob(), c.base); err != nil {
		return fmt.Errorf("%w (%w)", ErrUnsupported, err)
	}
	for at, b := range p.jumps {
		if _, err := c.mem.WriteAt(b, at); err != nil {
			return err
		}
	}
	return nil
}

// read takes over the offset that the process has.
func (c *Clock) read() error {
	var b [8]byte
	for at, to := range map[int64]*time.Duration{atWall: &c.now.Wall, atMono: &c.now.Monotonic} {
		if _, err := c.mem.ReadAt(b[:], c.base+at+8*int64(c.slot)); err != nil {
			return err
		}
		*to = time.Duration(binary.LittleEndian.Uint64(b[:]))
	}
	return nil
}

// Set is in effect with the process's next look at the clock; it isn't stopped for that. A monotonic offset that shrinks is
// refused: a clock that must not run backwards would, and programs then sleep for the difference.
func (c *Clock) Set(o Offset) error {
	if o.Monotonic < c.now.Monotonic {
		return fmt.Errorf("set the clock of process %d: the monotonic clock would run backwards, from %v to %v", c.pid, c.now.Monotonic, o.Monotonic)
	}
	next := 1 - c.slot
	var b [8]byte
	for at, v := range map[int64]time.Duration{atWall: o.Wall, atMono: o.Monotonic} {
		binary.LittleEndian.PutUint64(b[:], uint64(v))
		if _, err := c.mem.WriteAt(b[:], c.base+at+8*int64(next)); err != nil {
			return fmt.Errorf("set the clock of process %d: %w", c.pid, err)
		}
	}
	if _, err := c.mem.WriteAt([]byte{next}, c.base+atIndex); err != nil {
		return fmt.Errorf("set the clock of process %d: %w", c.pid, err)
	}
	c.slot, c.now = next, o
	return nil
}

// Now is the offset in force.
func (c *Clock) Now() Offset { return c.now }

// Close lets go of the process. Its clocks stay as they are.
func (c *Clock) Close() error {
	if c.mem == nil {
		return nil
	}
	return c.mem.Close()
}

// vdso returns where the vDSO of a process lies.
func vdso(pid int) (from, to int64, err error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return 0, 0, err
	}
	for l := range strings.Lines(string(b)) {
		if strings.HasSuffix(strings.TrimSpace(l), "[vdso]") {
			_, err = fmt.Sscanf(l, "%x-%x", &from, &to)
			return from, to, err
		}
	}
	return 0, 0, fmt.Errorf("%w: the process has no vDSO", ErrUnsupported)
}

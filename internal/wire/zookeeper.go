package wire

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// zookeeper is ZooKeeper's protocol: frames of a length, and in each the number of the request that it is, or answers.
type zookeeper struct {
	asked, greeted bool
	session        []Session
}

// The numbers of what answers no request.
const watchEvent = -1

// mostJute is more than a server takes.
const mostJute = 4 << 20

func (z *zookeeper) size(_ bool, b []byte) int {
	if len(b) < 4 {
		return 0
	}
	n := int(int32(binary.BigEndian.Uint32(b)))
	switch {
	case n < 8 || n > mostJute: // a question of four letters, which is no frame, is above that
		return -1
	case len(b) < 4+n:
		return 0
	}
	return 4 + n
}

func (z *zookeeper) tell(fromClient bool, b []byte) Frame {
	switch {
	case fromClient && !z.asked:
		z.asked = true
		return Frame{}
	case !fromClient && !z.greeted:
		z.greeted = true
		z.greeting(b)
		return Frame{}
	}
	number := int32(binary.BigEndian.Uint32(b[4:]))
	switch {
	case number == watchEvent && !fromClient:
		return Frame{Kind: Push, Text: eventText(b)}
	case number <= 0: // pings, and what a library does about its own watches
		return Frame{}
	case fromClient:
		return Frame{Kind: Request, ID: uint64(number), First: true, Text: operation(b)}
	}
	return Frame{Kind: Reply, ID: uint64(number)}
}

func (z *zookeeper) sessions() []Session { return z.session }

// greeting is a version, the session's time, its id and its password. An id of 0 refuses the session.
func (z *zookeeper) greeting(b []byte) {
	if len(b) < 24 {
		return
	}
	id := int64(binary.BigEndian.Uint64(b[12:]))
	secret, ok := juteBytes(b, 20)
	if id != 0 && ok {
		z.session = []Session{{ID: id, Secret: slices.Clone(secret)}}
	}
}

// juteBytes is what stands at a place behind its length.
func juteBytes(b []byte, at int) ([]byte, bool) {
	if len(b) < at+4 {
		return nil, false
	}
	n := int(int32(binary.BigEndian.Uint32(b[at:])))
	if n < 0 || n > len(b)-at-4 {
		return nil, false
	}
	return b[at+4 : at+4+n], true
}

// operation is its name, and the path that most have first.
func operation(b []byte) string {
	if len(b) < 12 {
		return "?"
	}
	code := int32(binary.BigEndian.Uint32(b[8:]))
	name, ok := operationNames()[code]
	if !ok {
		return fmt.Sprintf("operation-%d", code)
	}
	if code == 14 || code < 0 || code >= 100 { // multi and the like have no path first
		return name
	}
	if path, ok := juteBytes(b, 12); ok {
		name += " " + string(path[:min(len(path), wordLimit)])
	}
	return name
}

func operationNames() map[int32]string {
	return map[int32]string{
		1: "create", 2: "delete", 3: "exists", 4: "getData", 5: "setData", 6: "getACL", 7: "setACL", 8: "getChildren", 9: "sync",
		12: "getChildren2", 13: "check", 14: "multi", 15: "create2", 19: "createContainer", 21: "createTTL", 100: "setAuth",
		101: "setWatches", 105: "setWatches2", 106: "addWatch", -11: "closeSession",
	}
}

// eventText is what happened, and to which node.
func eventText(b []byte) string {
	if len(b) < 28 {
		return "?"
	}
	kind := int32(binary.BigEndian.Uint32(b[20:]))
	names := map[int32]string{-1: "Session", 1: "NodeCreated", 2: "NodeDeleted", 3: "NodeDataChanged", 4: "NodeChildrenChanged"}
	path, _ := juteBytes(b, 28)
	return names[kind] + " " + string(path[:min(len(path), wordLimit)])
}

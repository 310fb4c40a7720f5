package wire

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"

	"golang.org/x/net/http2/hpack"
	"google.golang.org/protobuf/encoding/protowire"
)

// http2 is HTTP/2 with gRPC in it. The method is in the compressed headers of a stream; each message is one or more DATA
// frames. etcd's watches and leases are known by their methods.
type http2 struct {
	begun   bool
	decoder *hpack.Decoder
	block   []byte // of headers that go on
	stream  uint32 // whose they are
	path    string // as it was decoded last
	methods map[uint32]string
	leases  []Session
	blind   bool // the headers could not be read
}

const (
	preface    = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
	headerSize = 9
)

// Types and flags of frames.
const (
	dataFrame, headersFrame, resetFrame, continuationFrame = 0, 1, 3, 9
	endStream, endHeaders, padded, priority                = 0x1, 0x4, 0x8, 0x20
)

// The methods of etcd that are looked into.
const (
	watchMethod = "Watch/Watch"
	leaseMethod = "Lease/LeaseGrant"
	// revokeMethod ends a lease, whose number is the request's first field.
	revokeMethod = "Lease/LeaseRevoke"
	revokedField = 1
)

// streamsLimit is how many streams may be open at a time before their methods are no longer kept.
const streamsLimit = 10000

func newHTTP2() *http2 {
	h := &http2{methods: map[uint32]string{}}
	h.decoder = hpack.NewDecoder(4096, func(f hpack.HeaderField) {
		if f.Name == ":path" {
			h.path = f.Value
		}
	})
	h.decoder.SetMaxStringLength(longest)
	return h
}

func (h *http2) size(fromClient bool, b []byte) int {
	if h.blind {
		return -1
	}
	if fromClient && !h.begun {
		if !strings.HasPrefix(preface, string(b[:min(len(b), len(preface))])) {
			return -1
		}
		if len(b) < len(preface) {
			return 0
		}
		return len(preface)
	}
	if len(b) < headerSize {
		return 0
	}
	n := headerSize + (int(b[0])<<16 | int(b[1])<<8 | int(b[2]))
	if len(b) < n {
		return 0
	}
	return n
}

func (h *http2) tell(fromClient bool, b []byte) Frame {
	if fromClient && !h.begun {
		h.begun = true
		return Frame{}
	}
	kind, flags, stream := b[3], b[4], binary.BigEndian.Uint32(b[5:])&^(1<<31)
	body := b[headerSize:]
	switch kind {
	case headersFrame, continuationFrame:
		if fromClient {
			h.headers(kind, flags, stream, body)
			return Frame{}
		}
		return h.answer(stream, flags, nil)
	case dataFrame:
		if fromClient {
			if h.methods[stream] == revokeMethod {
				h.dropLease(unpadded(flags, body))
			}
			return Frame{Kind: Request, ID: uint64(stream), First: len(body) > 0, Text: h.methods[stream]}
		}
		return h.answer(stream, flags, unpadded(flags, body))
	case resetFrame:
		delete(h.methods, stream)
	}
	return Frame{}
}

func (h *http2) sessions() []Session { return h.leases }

// headers reads a block once it is whole: each changes what the next ones mean.
func (h *http2) headers(kind, flags byte, stream uint32, body []byte) {
	if kind == headersFrame {
		body = unpadded(flags, body)
		if flags&priority != 0 {
			body = body[min(5, len(body)):]
		}
		h.block, h.stream = nil, stream
	}
	h.block = append(h.block, body...)
	if len(h.block) > longest || stream != h.stream {
		h.blind = true
		return
	}
	if flags&endHeaders == 0 {
		return
	}
	h.path = ""
	if _, err := h.decoder.Write(h.block); err != nil || h.decoder.Close() != nil {
		h.blind = true
		return
	}
	h.block = nil
	if len(h.methods) < streamsLimit && h.path != "" {
		h.methods[stream] = method(h.path)
	}
}

// method is the last part of a service's name, and the method: "KV/Txn" of "/etcdserverpb.KV/Txn".
func method(path string) string {
	service, name, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return service[strings.LastIndexByte(service, '.')+1:] + "/" + name
}

// answer is a part of what the server sends on a stream.
func (h *http2) answer(stream uint32, flags byte, body []byte) Frame {
	name, known := h.methods[stream]
	if flags&endStream != 0 {
		delete(h.methods, stream)
	}
	if !known {
		return Frame{}
	}
	switch {
	case name == watchMethod && hasEvents(body):
		return Frame{Kind: Push, Text: watchMethod}
	case name == leaseMethod:
		h.keepLease(body)
	}
	return Frame{Kind: Reply, ID: uint64(stream)}
}

func unpadded(flags byte, body []byte) []byte {
	if flags&padded == 0 || len(body) == 0 {
		return body
	}
	n := int(body[0])
	if n > len(body)-1 {
		return nil
	}
	return body[1 : len(body)-n]
}

// eventsField is where a WatchResponse has its events, idField where a LeaseGrantResponse has the lease's number.
const (
	eventsField = 11
	idField     = 2
)

// hasEvents says whether a message of gRPC, whole in one frame, is a watch's with events.
func hasEvents(body []byte) bool {
	found := false
	fields(body, func(n protowire.Number, _ uint64) { found = found || n == eventsField })
	return found
}

func (h *http2) keepLease(body []byte) {
	fields(body, func(n protowire.Number, v uint64) {
		if n == idField && v != 0 && len(h.leases) < streamsLimit {
			h.leases = append(h.leases, Session{ID: int64(v)})
		}
	})
}

// dropLease forgets a lease whose client ends it itself.
func (h *http2) dropLease(body []byte) {
	fields(body, func(n protowire.Number, v uint64) {
		if n == revokedField {
			h.leases = slices.DeleteFunc(h.leases, func(s Session) bool { return s.ID == int64(v) })
		}
	})
}

// fields tells the fields of a message that stands behind gRPC's five bytes: whether it is compressed, and its length.
func fields(body []byte, tell func(n protowire.Number, varint uint64)) {
	if len(body) < 5 || body[0] != 0 {
		return
	}
	for b := bytes.Clone(body[5:]); len(b) > 0; {
		n, kind, size := protowire.ConsumeTag(b)
		if size < 0 {
			return
		}
		b = b[size:]
		v := uint64(0)
		if kind == protowire.VarintType {
			v, _ = protowire.ConsumeVarint(b)
		}
		if size = protowire.ConsumeFieldValue(n, kind, b); size < 0 {
			return
		}
		b = b[size:]
		tell(n, v)
	}
}

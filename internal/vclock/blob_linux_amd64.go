package vclock

import "encoding/hex"

// The code that replaces the vDSO's functions, assembled from skew.s.txt beside this file:
//
//	as -o skew.o skew.s.txt && objcopy -O binary -j .text skew.o skew.bin && xxd -p skew.bin
//
// It begins with the index of the slot in force (8 bytes) and two slots for each clock, so that an offset changes by one
// byte that is written last.
const blobHex = "00000000000000000000000000000000000000000000000000000000000000000000000000000000" +
	"b8e40000000f0585c07558488d15ceffffff85ff742083ff05741b488d15ceffffff83ff01740f83ff04740a83ff06740583ff07752b0fb6" +
	"0d9bffffff488b04ca480346084899b900ca9a3b48f7f94885d279064801ca48ffc84801064889560831c0c30f1f4000b8600000000f0585c075434885ff743c" +
	"0fb60d59ffffff488d155affffff488b04ca4899b9e803000048f7f9480347084899b940420f0048f7f94885d279064801ca48ffc84801074889570831c0c390" +
	"574883ec1031ff4889e6e839ffffff488b04244883c4105f4885ff7403488907c3"

// Places in the blob.
const (
	atIndex    = 0
	atWall     = 8
	atMono     = 24
	codeBegins = 40
	atSkew     = 40   // clock_gettime
	atDay      = 0x90 // gettimeofday
	atTime     = 0xe0 // time
)

// entries are the vDSO's functions and what replaces each.
func entries() map[string]int64 {
	return map[string]int64{"__vdso_clock_gettime": atSkew, "__vdso_gettimeofday": atDay, "__vdso_time": atTime}
}

func blob() []byte {
	b, err := hex.DecodeString(blobHex)
	if err != nil {
		panic("vclock: " + err.Error())
	}
	return b
}

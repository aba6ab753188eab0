package process

import (
	"strings"
	"sync"
)

// kept is the number of bytes of standard error that are kept: enough for an error, and a server that logs a lot does not fill the memory.
const kept = 64 << 10

// tail keeps the end of what is written to it.
type tail struct {
	mutex sync.Mutex
	bytes []byte
}

// Write takes all.
func (t *tail) Write(more []byte) (int, error) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.bytes = append(t.bytes, more...)
	if excess := len(t.bytes) - kept; excess > 0 {
		t.bytes = append([]byte(nil), t.bytes[excess:]...)
	}
	return len(more), nil
}

// quoted returns what was written, for the end of an error.
func (t *tail) quoted() string {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	text := strings.TrimSpace(string(t.bytes))
	if text == "" {
		return ""
	}
	return "; it said:\n" + text
}

// firstLine sends the first line that is written to it, and drops the rest.
type firstLine struct {
	line   chan string
	text   strings.Builder
	isDone bool
}

func newFirstLine() *firstLine { return &firstLine{line: make(chan string, 1)} }

// Write takes all.
func (f *firstLine) Write(more []byte) (int, error) {
	if !f.isDone {
		f.text.Write(more)
		if line, _, found := strings.Cut(f.text.String(), "\n"); found {
			f.isDone = true
			f.line <- line
		}
	}
	return len(more), nil
}

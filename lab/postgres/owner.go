package postgres

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// owner names a process on a machine so that others can tell whether it still lives: its number
// alone would not do, because numbers are used again.
type owner struct {
	host    string // with the process namespace, where there are namespaces
	pid     int
	started string // in the system's own words, one word
}

func self() owner {
	host, _ := os.Hostname()
	return owner{host: host + namespace(), pid: os.Getpid(), started: startTime(os.Getpid())}
}

func (o owner) String() string { return fmt.Sprintf("%s %d %s", o.host, o.pid, o.started) }

func parseOwner(text string) (o owner, ok bool) {
	fields := strings.Fields(text)
	if len(fields) != 3 {
		return o, false
	}
	pid, err := strconv.Atoi(fields[1])
	return owner{host: fields[0], pid: pid, started: fields[2]}, err == nil
}

// gone tells whether the process has provably ended: about other machines we can prove nothing.
func (o owner) gone() bool {
	here := self()
	return o.host == here.host && startTime(o.pid) != o.started
}

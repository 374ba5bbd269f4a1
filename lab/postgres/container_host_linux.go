package postgres

import (
	"fmt"
	"net"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// sharesNetwork tells whether the engine behind a unix socket lives on this very network. Being
// in a container does not answer it: an engine may run beside us in the same one. A process of
// an outer container, whose socket was only mounted here, has no number here.
func sharesNetwork(engine string) bool {
	path, isUnix := strings.CutPrefix(engine, "unix://")
	conn, err := net.Dial("unix", path)
	if !isUnix || err != nil {
		return false
	}
	defer conn.Close()
	raw, err := conn.(*net.UnixConn).SyscallConn()
	if err != nil {
		return false
	}
	var peer *unix.Ucred
	raw.Control(func(fd uintptr) {
		peer, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	})
	if err != nil || peer.Pid == 0 {
		return false
	}
	theirs, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/net", peer.Pid))
	if err != nil {
		return true // somebody else's process, but one of this machine
	}
	ours, _ := os.Readlink("/proc/self/ns/net")
	return theirs == ours
}

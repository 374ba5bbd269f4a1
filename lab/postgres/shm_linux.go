package postgres

import (
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// freeSharedMemory removes the small System V segment that a killed server leaves behind. It goes
// only when its creator is gone: a reused id would name a segment with a living one.
func freeSharedMemory(data string) {
	fields := strings.Fields(pidFileLine(data, 7))
	if len(fields) != 2 {
		return
	}
	id, err := strconv.Atoi(fields[1])
	if err != nil {
		return
	}
	var desc unix.SysvShmDesc
	if _, err := unix.SysvShmCtl(id, unix.IPC_STAT, &desc); err != nil {
		return
	}
	ours := strconv.Itoa(int(desc.Cpid)) == pidFileLine(data, 1)
	if ours && desc.Nattch == 0 && !alive(int(desc.Cpid)) {
		unix.SysvShmCtl(id, unix.IPC_RMID, nil)
	}
}

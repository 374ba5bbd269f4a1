package postgres

import "syscall"

// inMemory tells whether a path lies on tmpfs or ramfs.
func inMemory(path string) bool {
	const tmpfs, ramfs = 0x01021994, 0x858458f6
	var fs syscall.Statfs_t
	if syscall.Statfs(path, &fs) != nil {
		return false
	}
	kind := uint32(fs.Type)
	return kind == tmpfs || kind == ramfs
}

// freeBytes is the room left for everybody on a path's file system.
func freeBytes(path string) uint64 {
	var fs syscall.Statfs_t
	if syscall.Statfs(path, &fs) != nil {
		return 0
	}
	return fs.Bavail * uint64(fs.Bsize)
}

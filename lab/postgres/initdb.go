package postgres

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// initdbArgs make clusters alike on every machine: C locale, UTF-8, passwords over TCP only.
// --no-sync: the copy that a server runs on is synced, or not, by that server's profile.
var initdbArgs = []string{
	"--username=postgres", "--auth=scram-sha-256",
	"--encoding=UTF8", "--no-locale", "--no-sync", "--no-instructions",
}

// cluster is a data directory fresh from initdb, kept to be copied.
type cluster struct {
	Password string `json:"password"`
	Files    int    `json:"files"`
	Bytes    int64  `json:"bytes"`
	dir      string // holds data/ and cluster.json
}

func (c cluster) data() string { return filepath.Join(c.dir, "data") }

// cachedCluster is the cluster that this installation, user and set of arguments makes: from the
// cache when it is whole, else made now. Processes that want the same one wait for the first.
func cachedCluster(ctx context.Context, base string, b binaries, as runAs, say func(string),
) (cluster, error) {
	cache := filepath.Join(base, "cache")
	if err := os.Mkdir(cache, 0o711); err != nil && !errors.Is(err, os.ErrExist) {
		return cluster{}, fmt.Errorf("make the cache of clusters: %w", err)
	}
	dir := filepath.Join(cache, clusterKey(b, as))
	held, err := lock(dir + ".lock")
	if err != nil {
		return cluster{}, err
	}
	defer held.Close()
	if found, err := readCluster(dir); err == nil {
		return found, nil
	}
	say("making a database cluster with " + b.initdb() + " (once)")
	return makeCluster(ctx, dir, b, as)
}

// clusterKey changes with everything that shapes the cluster. The binary's size and time stand
// for its content, so that a minor upgrade makes a new one.
func clusterKey(b binaries, as runAs) string {
	info, err := os.Stat(b.postgres())
	stamp := ""
	if err == nil {
		stamp = fmt.Sprint(info.Size(), info.ModTime().UnixNano())
	}
	sum := sha256.Sum256([]byte(strings.Join(append([]string{
		b.folder, b.version, stamp, as.name, "layout 1"}, initdbArgs...), "\x00")))
	return fmt.Sprintf("%s-%x", b.version, sum[:6])
}

// readCluster finds a cached cluster and checks that nothing of it was cleaned away.
func readCluster(dir string) (cluster, error) {
	c := cluster{dir: dir}
	text, err := os.ReadFile(filepath.Join(dir, "cluster.json"))
	if err != nil {
		return c, err
	}
	if err := json.Unmarshal(text, &c); err != nil {
		return c, err
	}
	files, bytes, err := measure(c.data())
	if err != nil {
		return c, err
	}
	if files != c.Files || bytes != c.Bytes {
		return c, fmt.Errorf("%s holds %d files and %d bytes, not %d and %d",
			dir, files, bytes, c.Files, c.Bytes)
	}
	return c, nil
}

// makeCluster runs initdb beside the final place and renames the result, so that a cluster is
// either whole or absent.
func makeCluster(ctx context.Context, dir string, b binaries, as runAs) (cluster, error) {
	stale, _ := filepath.Glob(dir + ".new-*")
	for _, unfinished := range stale {
		os.RemoveAll(unfinished) // may fail while the initdb of a dead run still writes
	}
	if err := os.RemoveAll(dir); err != nil {
		return cluster{}, fmt.Errorf("clear the cache of clusters: %w", err)
	}
	fresh := dir + ".new-" + newSecret()[:8]
	if err := os.Mkdir(fresh, 0o711); err != nil {
		return cluster{}, fmt.Errorf("make the cache of clusters: %w", err)
	}
	c := cluster{Password: newSecret(), dir: fresh}
	err := runInitdb(ctx, c, b, as)
	if err == nil {
		err = c.seal()
	}
	if err != nil {
		return cluster{}, errors.Join(err, os.RemoveAll(fresh))
	}
	if err := os.Rename(fresh, dir); err != nil {
		return cluster{}, fmt.Errorf("put the new cluster in place: %w", err)
	}
	c.dir = dir
	return c, nil
}

func runInitdb(ctx context.Context, c cluster, b binaries, as runAs) error {
	verifier, err := scramVerifier(c.Password)
	if err != nil {
		return err
	}
	if err := os.Mkdir(c.data(), 0o700); err != nil {
		return fmt.Errorf("make a data directory: %w", err)
	}
	passwords := filepath.Join(c.dir, "password")
	if err := os.WriteFile(passwords, []byte(verifier+"\n"), 0o600); err != nil {
		return fmt.Errorf("write the password for initdb: %w", err)
	}
	defer os.Remove(passwords)
	if err := errors.Join(as.own(c.data()), as.own(passwords)); err != nil {
		return fmt.Errorf("give the data directory to user %s: %w", as.name, err)
	}
	args := append([]string{"--pgdata=" + c.data(), "--pwfile=" + passwords}, initdbArgs...)
	cmd := exec.CommandContext(ctx, b.initdb(), args...)
	cmd.Dir, cmd.Env, cmd.SysProcAttr = c.data(), serverEnvironment(), as.process()
	cmd.WaitDelay = 2 * time.Second // its own children may hold the output open
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("run %s as user %s: %w\n%s", b.initdb(), as.name, err, out)
	}
	return nil
}

// seal writes down what a whole copy of this cluster looks like.
func (c *cluster) seal() (err error) {
	if c.Files, c.Bytes, err = measure(c.data()); err != nil {
		return fmt.Errorf("measure the new cluster: %w", err)
	}
	text, err := json.Marshal(c)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(c.dir, "cluster.json"), text, 0o600)
}

// serverEnvironment gives the server's programs English messages and no PG* variables.
func serverEnvironment() []string {
	return append(Environment(), "LC_ALL=C", "LANG=C", "TZ=UTC")
}

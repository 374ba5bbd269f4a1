package properties_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"webhooklab"
	"webhooklab/lab"
	"webhooklab/lab/flawed"
	"webhooklab/lab/postgres"
	"webhooklab/properties"
)

// ground is what all tests of this binary stand on: one server, one clone, and a connection of the
// judge's own. Sequences keep apart by fresh sources.
var ground struct {
	server   *postgres.Server
	database *postgres.Database
	judge    *pgx.Conn
	seed     uint64
	total    int    // sequences that all properties together are to draw
	logs     string // folder of the evidence, "" for none
	drawn    tally
	worst    lab.Offence // what the last sequence that broke a law was found guilty of
}

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(runAll(m))
}

func runAll(m *testing.M) int {
	if err := readSettings(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	fmt.Printf("properties: seed %d, %d sequences\n", ground.seed, ground.total)
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	stop, err := prepare(ctx)
	defer stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "properties:", err)
		return 2
	}
	code := m.Run()
	fmt.Println("properties:", ground.drawn)
	return code
}

// readSettings takes seed and number from the environment, and hands the seed to rapid.
func readSettings() (err error) {
	ground.logs = os.Getenv("LAB_LOGS")
	ground.drawn.answers = map[string]int{}
	ground.total = 1000
	if testing.Short() {
		ground.total = 100
	}
	if text := os.Getenv("LAB_SEQUENCES"); text != "" {
		if ground.total, err = strconv.Atoi(text); err != nil || ground.total < 1 {
			return fmt.Errorf("LAB_SEQUENCES=%q is no number of sequences; use 1 or more", text)
		}
	}
	ground.seed = uint64(time.Now().UnixNano()) % 1_000_000_000
	if text := os.Getenv("LAB_SEED"); text != "" {
		if ground.seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			return fmt.Errorf("LAB_SEED=%q is no seed; use a number from 0 up", text)
		}
	}
	// To rapid 0 means a seed of its own, which nobody could repeat.
	return setFlag("rapid.seed", max(1, ground.seed))
}

func setFlag(name string, value any) error {
	if err := flag.Set(name, fmt.Sprint(value)); err != nil {
		return fmt.Errorf("set -%s: %w", name, err)
	}
	return nil
}

// prepare starts the server and clones the audited schema. stop is never nil.
func prepare(ctx context.Context) (stop func(), err error) {
	server, err := postgres.Start(ctx, postgres.Config{LogDir: ground.logs})
	if err != nil {
		return func() {}, err
	}
	ground.server = server
	stop = func() {
		if ground.judge != nil {
			_ = ground.judge.Close(context.Background())
		}
		if err := server.Stop(context.Background()); err != nil {
			fmt.Fprintln(os.Stderr, "properties:", err)
		}
	}
	schema := webhooklab.Schema + properties.Audit + flawed.DedupByDigestSchema
	template, err := server.Template(ctx, schema)
	if err != nil {
		return stop, err
	}
	if ground.database, err = template.Clone(ctx); err != nil {
		return stop, err
	}
	config, err := postgres.ParseConfig(ground.database.DSN())
	if err != nil {
		return stop, err
	}
	ground.judge, err = pgx.ConnectConfig(ctx, config)
	return stop, err
}

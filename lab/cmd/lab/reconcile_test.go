package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"webhooklab"
	"webhooklab/lab/postgres"
)

// Each kind of difference is named, and only those that nothing explains make the code 1.
func TestReconcile(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	server, err := postgres.Start(ctx, postgres.Config{})
	require.NoError(t, err)
	defer func() { require.NoError(t, server.Stop(context.Background())) }()
	template, err := server.Template(ctx, webhooklab.Schema)
	require.NoError(t, err)
	clone, err := template.Clone(ctx)
	require.NoError(t, err)
	seed(t, ctx, clone.DSN())

	code, out, _ := runReconcile(t, clone.DSN(), strings.Join([]string{
		"day,source,type,count",
		"2026-11-01,shop,snapshot,3",   // equal
		"2026-11-01,shop,paid,6",       // 4 events, 2 duplicates
		"2026-11-02,shop,paid,5",       // 2 events, 2 refused, 1 after midnight
		"2026-11-03,shop,paid,1",       // 2 events, 1 of the day before
		"2026-11-03,mail,delivered,2",  // 1 event and another on the day after
		"2026-11-02,mail,delivered,2",  // 1 event, 1 missing
		"2026-11-02,nowhere,paid,7",    // nobody knows it
		"2026-11-03,mail,opened,0",     // 1 event
		"2026-11-03,shop,snapshot,0\n", // equal
	}, "\n"))
	require.Equal(t, 1, code)
	require.Equal(t, []string{
		`2026-11-01 "shop" "paid": sent 6, stored 4: explained: ` +
			`2 duplicates: the provider counts deliveries, not events`,
		`2026-11-02 "mail" "delivered": sent 2, stored 1: UNEXPLAINED: ` +
			`1 missing: have them sent again`,
		`2026-11-02 "nowhere" "paid": sent 7, stored 0: UNEXPLAINED: ` +
			`unknown source: nothing of it ever came in; compare its name with the routes`,
		`2026-11-02 "shop" "paid": sent 5, stored 2: explained: ` +
			`2 refused: see webhook_refusal; 1 arrived on the day after`,
		`2026-11-03 "mail" "delivered": sent 2, stored 1: explained: 1 arrived on the day after`,
		`2026-11-03 "mail" "opened": sent 0, stored 1: UNEXPLAINED: ` +
			`1 extra: not in the provider's count`,
		`2026-11-03 "shop" "paid": sent 1, stored 2: explained: 1 belong to the day before`,
		`compared 9 counts: 2 equal, 4 explained, 3 unexplained`,
	}, strings.Split(strings.TrimSpace(out), "\n"))

	code, out, _ = runReconcile(t, clone.DSN(), "count,type,source,day\n3,snapshot,shop,2026-11-01\n"+
		"4,paid,shop,2026-11-01\n")
	require.Zero(t, code)
	require.Equal(t, "compared 2 counts: 2 equal, 0 explained, 0 unexplained\n", out)
}

func runReconcile(t *testing.T, database, text string) (int, string, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "provider.csv")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	var out, errs bytes.Buffer
	code := command([]string{"reconcile", "--csv", path, "--database", database}, &out, &errs)
	return code, out.String(), errs.String()
}

// seed stores what the test compares.
func seed(t *testing.T, ctx context.Context, dsn string) {
	conn, err := pgx.Connect(ctx, dsn)
	require.NoError(t, err)
	defer conn.Close(ctx)
	exec := func(sql string, arguments ...any) {
		_, err := conn.Exec(ctx, sql, arguments...)
		require.NoError(t, err)
	}
	event := 0
	paid := func(day string, n int) {
		for range n {
			event++
			exec(`INSERT INTO webhook_receipt (source, event_id, model, event_type, payload, raw_body,
				status, max_attempts, next_attempt_at, actor, received_at)
				VALUES ('shop', 'p' || $1::int, 'leased', 'paid', '{}', '', 'pending', 5, now(), 'test',
					$2::text::timestamptz)`, event, day+" 23:59:59.9+00")
		}
	}
	delivery := func(day, id, counted, answer string, n int) {
		for range n {
			exec(`INSERT INTO webhook_delivery (source, event_id, counted_as, answer, received_at)
				VALUES ('shop', $1, $2, $3, $4::text::timestamptz)`, id, counted, answer, day)
		}
	}
	for i := range 3 {
		exec(`INSERT INTO webhook_inbox VALUES ('shop', 's' || $1::int, 'o', $1::int + 1, '{}',
			'2026-11-01 00:00:00+00')`, i)
	}
	paid("2026-11-01", 4)
	delivery("2026-11-01", "p1", "duplicate", "duplicate", 2)
	paid("2026-11-02", 2)
	delivery("2026-11-02", "", "invalid", "id_missing", 1)
	delivery("2026-11-02", "p1", "conflict", "reused_event_id", 1)
	paid("2026-11-03", 2)
	for id, of := range map[string][2]string{
		"m1": {"2026-11-02", "delivered"}, "m2": {"2026-11-03", "delivered"},
		"m3": {"2026-11-04 00:00:00.1", "delivered"}, "m4": {"2026-11-03", "opened"},
	} {
		exec(`INSERT INTO email_event (source, event_id, message_id, recipient, type, payload,
			received_at)
			VALUES ('mail', $1, 'm', 'r', $2, '{}', $3::text::timestamptz)`, id, of[1], of[0]+"+00")
	}
}

// What can't be compared is told with its line, and without a password.
func TestReconcileFaults(t *testing.T) {
	const none = "postgres://u:hidden@127.0.0.1:1/x"
	for text, says := range map[string]string{
		"":                                    "it is empty",
		"day,source,count\n":                  `:1: there is no column "type"`,
		"day,source,type,count\n":             "there is no count in it",
		"day,source,type,count\n1,2\n":        ":2: wrong number of fields",
		"day,source,type,count\n\"a\n":        ":",
		"day,source,type,count\n1,s,t,4\n":    `:2: day "1": write it as`,
		"day,source,type,count\n" + row("x"):  `:2: count "x" is no number`,
		"day,source,type,count\n" + row("-1"): `:2: count "-1" is no number`,
		"day,source,type,count\n" + row("99999999999999999999"): "is no number",
		"day,source,type,count\n2026-11-01,,t,1\n":              ":2: source or type is empty",
		"day,source,type,count\n" + row("1") + row("1"):         ":3: 2026-11-01, s, t was counted",
		"day,source,type,count\n" + row("1"):                    "connect to the database",
	} {
		code, out, errs := runReconcile(t, none, text)
		require.Equal(t, 2, code, text)
		require.Contains(t, errs, says, text)
		require.Empty(t, out)
		require.NotContains(t, errs, "hidden")
	}
	t.Setenv("DATABASE_URL", "")
	var out, errs bytes.Buffer
	require.Zero(t, command([]string{"reconcile", "--help"}, &out, &errs))
	require.Contains(t, out.String(), "usage: lab reconcile")
	require.Equal(t, 2, command([]string{"reconcile", "--csv", "x"}, &out, &errs))
	require.Contains(t, errs.String(), "--database is missing")
	require.Equal(t, 2, command([]string{"reconcile"}, &out, &errs))
	require.Contains(t, errs.String(), "--csv is missing")
}

func row(count string) string { return "2026-11-01,s,t," + count + "\n" }

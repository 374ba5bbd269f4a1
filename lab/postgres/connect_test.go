package postgres

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
)

// hostile sets every variable that pgx and libpq read to something that would lead astray.
func hostile(t *testing.T) {
	home := t.TempDir()
	services, passwords := filepath.Join(home, ".pg_service.conf"), filepath.Join(home, ".pgpass")
	require.NoError(t, os.WriteFile(services, []byte("[astray]\nhost=192.0.2.1\n"), 0o600))
	require.NoError(t, os.WriteFile(passwords, []byte("*:*:*:*:astray\n"), 0o600))
	for name, value := range map[string]string{
		"HOME": home, "PGHOST": "192.0.2.1", "PGPORT": "1", "PGDATABASE": "astray",
		"PGUSER": "astray", "PGPASSWORD": "astray", "PGPASSFILE": passwords,
		"PGAPPNAME": "astray", "PGCONNECT_TIMEOUT": "nonsense", "PGSSLMODE": "verify-full",
		"PGSSLKEY": "/astray", "PGSSLCERT": "/astray", "PGSSLCERTMODE": "require",
		"PGSSLSNI": "astray", "PGSSLROOTCERT": "/astray", "PGSSLPASSWORD": "astray",
		"PGSSLNEGOTIATION": "direct", "PGTARGETSESSIONATTRS": "standby",
		"PGSERVICE": "astray", "PGSERVICEFILE": services, "PGTZ": "Asia/Tokyo",
		"PGOPTIONS":            "-c default_transaction_isolation=serializable",
		"PGMINPROTOCOLVERSION": "nonsense", "PGMAXPROTOCOLVERSION": "nonsense",
		"PGCHANNELBINDING": "require", "PGREQUIREAUTH": "md5", "PGDATA": "/astray",
	} {
		t.Setenv(name, value)
	}
}

func TestConfigHoldsOnlyWhatTheDSNSays(t *testing.T) {
	const dsn = "postgres://me:secret@db.example:6543/shop?search_path=mine"
	peaceful, err := ParseConfig(dsn)
	require.NoError(t, err)
	hostile(t)
	for _, parse := range map[string]func(string) (*pgx.ConnConfig, error){
		"connection": ParseConfig,
		"pool": func(dsn string) (*pgx.ConnConfig, error) {
			conf, err := ParsePoolConfig(dsn + "&pool_max_conns=3")
			if err != nil {
				return nil, err
			}
			require.Equal(t, int32(3), conf.MaxConns)
			return conf.ConnConfig, nil
		},
	} {
		conf, err := parse(dsn)
		require.NoError(t, err)
		require.Equal(t, "db.example", conf.Host)
		require.Equal(t, uint16(6543), conf.Port)
		require.Equal(t, "shop", conf.Database)
		require.Equal(t, "me", conf.User)
		require.Equal(t, "secret", conf.Password)
		require.Equal(t, map[string]string{"search_path": "mine"}, conf.RuntimeParams)
		require.Nil(t, conf.TLSConfig)
		require.Empty(t, conf.Fallbacks)
		require.Nil(t, conf.ValidateConnect)
		require.Equal(t, peaceful.SSLNegotiation, conf.SSLNegotiation)
		require.Equal(t, peaceful.ChannelBinding, conf.ChannelBinding)
		require.Equal(t, peaceful.RequireAuth, conf.RequireAuth)
		require.Equal(t, peaceful.ConnectTimeout, conf.ConnectTimeout)
		require.Equal(t, peaceful.MinProtocolVersion, conf.MinProtocolVersion)
		require.Equal(t, peaceful.MaxProtocolVersion, conf.MaxProtocolVersion)
	}
}

func TestSilentDSNStaysSilent(t *testing.T) {
	hostile(t)
	conf, err := ParseConfig("postgres://me@db.example")
	require.NoError(t, err)
	require.Equal(t, uint16(5432), conf.Port)
	require.Empty(t, conf.Password, "neither PGPASSWORD nor a password file speaks for the DSN")
	require.Empty(t, conf.Database)
	require.Empty(t, conf.RuntimeParams)
}

func TestHostileEnvironmentHasNoEffect(t *testing.T) {
	hostile(t)
	s, ctx := startLocalServer(t, Fast), bounded(t)
	template, err := s.Template(ctx, notes)
	require.NoError(t, err)
	db, err := template.Clone(ctx)
	require.NoError(t, err)
	require.Equal(t, db.Name(), query[string](t, db.DSN(), "SELECT current_database()"))
	require.Equal(t, "read committed",
		query[string](t, db.DSN(), "SELECT current_setting('default_transaction_isolation')"))

	conf, err := ParsePoolConfig(db.DSN())
	require.NoError(t, err)
	pool, err := pgxpool.NewWithConfig(ctx, conf)
	require.NoError(t, err)
	defer pool.Close()
	require.NoError(t, pool.Ping(ctx))

	for _, pair := range Environment() {
		require.NotRegexp(t, "^PG", pair)
	}
}

func TestRefusedDSNs(t *testing.T) {
	for dsn, reason := range map[string]string{
		"host=db user=me":                            "not a URL",
		"postgres://db/shop":                         "names no user",
		"postgres://me@/shop":                        "names no host",
		"postgres://me@db/shop?sslmode=require":      `sslmode "require" is refused`,
		"postgres://me@db/shop?sslmode=verify-full":  `sslmode "verify-full" is refused`,
		"postgres://me@db/shop?ssl=true":             `"ssl=true" is refused`,
		"postgres://me@db/shop?service=astray":       "service is refused",
		"postgres://me@db/shop?passfile=/tmp/x":      "passfile is refused",
		"postgres://me:sec ret@db/shop":              "odd characters",
		"postgres://me:secret@db:port/shop":          "read a DSN",
		"postgres://me@db/shop?sslmode=disable&ssl=": `"ssl=" is refused`,
	} {
		_, err := ParseConfig(dsn)
		require.ErrorContains(t, err, reason, dsn)
		require.NotContains(t, err.Error(), "secret")
	}
	for _, mode := range []string{"disable", "allow", "prefer"} {
		conf, err := ParseConfig("postgres://me@db/shop?sslmode=" + mode)
		require.NoError(t, err)
		require.Nil(t, conf.TLSConfig, "the wire must see what is sent")
		require.Empty(t, conf.Fallbacks)
	}
}

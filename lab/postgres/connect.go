package postgres

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// unsaid is what each setting that pgx would take from a PG* variable or from a file in the home
// directory means when the DSN is silent about it. Saying it in the DSN outranks both.
var unsaid = map[string]string{
	"port":                 "5432",
	"database":             "",
	"password":             "",
	"passfile":             "",
	"application_name":     "",
	"connect_timeout":      "0",
	"sslmode":              "disable",
	"sslkey":               "",
	"sslcert":              "",
	"sslcertmode":          "allow",
	"sslsni":               "1",
	"sslrootcert":          "",
	"sslpassword":          "",
	"sslnegotiation":       "postgres",
	"target_session_attrs": "any",
	"timezone":             "",
	"options":              "",
	"min_protocol_version": "",
	"max_protocol_version": "",
	"channel_binding":      "",
	"require_auth":         "",
}

// Environment is this process's environment without the PG* variables, for a child that opens
// connections of its own: what a DSN does not say, such a child must not pick up elsewhere.
func Environment() []string {
	return slices.DeleteFunc(os.Environ(), func(pair string) bool {
		return strings.HasPrefix(pair, "PG")
	})
}

// ParseConfig reads a postgres:// URL and yields only what it says: PGHOST, PGOPTIONS, PGSERVICE
// and their kin, ~/.pgpass and the service file have no effect. The URL must name host and user.
// TLS is refused by name, because the wire could not see the protocol through it.
func ParseConfig(dsn string) (*pgx.ConnConfig, error) {
	var conf *pgx.ConnConfig
	err := sealed(dsn, func(dsn string, silent []string) (err error) {
		if conf, err = pgx.ParseConfig(dsn); err == nil {
			forget(conf, silent)
		}
		return err
	})
	return conf, err
}

// ParsePoolConfig is ParseConfig for a pool; it understands pgxpool's pool_* parameters as well.
func ParsePoolConfig(dsn string) (*pgxpool.Config, error) {
	var conf *pgxpool.Config
	err := sealed(dsn, func(dsn string, silent []string) (err error) {
		if conf, err = pgxpool.ParseConfig(dsn); err == nil {
			forget(conf.ConnConfig, silent)
		}
		return err
	})
	return conf, err
}

// forget removes the empty run-time parameters that sealing had to spell out.
func forget(conf *pgx.ConnConfig, silent []string) {
	for _, name := range silent {
		delete(conf.RuntimeParams, name)
	}
}

// sealed hands parse a DSN in which every setting is said, and the names that were added.
func sealed(dsn string, parse func(dsn string, silent []string) error) error {
	u, err := checkedURL(dsn)
	if err != nil {
		return err
	}
	query := u.Query()
	var silent []string
	for name, neutral := range unsaid {
		if said(u, query, name) {
			continue
		}
		query.Set(name, neutral)
		silent = append(silent, name)
	}
	query.Set("sslmode", "disable")
	if os.Getenv("PGSERVICE") != "" {
		file, err := emptyService()
		if err != nil {
			return err
		}
		defer os.Remove(file)
		query.Set("service", "webhooklab")
		query.Set("servicefile", file)
	}
	u.RawQuery = query.Encode()
	return parse(u.String(), silent)
}

func said(u *url.URL, query url.Values, name string) bool {
	_, password := u.User.Password()
	switch {
	case query.Has(name):
		return true
	case name == "port":
		return u.Port() != ""
	case name == "database":
		return strings.Trim(u.Path, "/") != "" || query.Has("dbname")
	case name == "password":
		return password
	}
	return false
}

// checkedURL is the parsed DSN, or the reason why the lab does not accept it.
func checkedURL(dsn string) (*url.URL, error) {
	if !givesDSN(dsn) {
		return nil, errors.New("read a DSN: it is not a URL; " +
			"write postgres://USER:PASSWORD@HOST:PORT/DATABASE")
	}
	u, err := url.Parse(dsn)
	if err != nil {
		var reason *url.Error
		if errors.As(err, &reason) {
			err = reason.Err // the outer text would show the password
		}
		return nil, fmt.Errorf("read a DSN: %w; "+
			"write postgres://USER:PASSWORD@HOST:PORT/DATABASE, odd characters as %%XX", err)
	}
	query := u.Query()
	for _, name := range []string{"service", "servicefile", "passfile"} {
		if query.Has(name) {
			return nil, fmt.Errorf("read the DSN of %s: %s is refused, "+
				"because the lab reaches only what the DSN itself says", u.Host, name)
		}
	}
	if u.User.Username() == "" && !query.Has("user") {
		return nil, fmt.Errorf("read the DSN of %s: it names no user; "+
			"write postgres://USER:PASSWORD@HOST:PORT/DATABASE", u.Host)
	}
	if u.Hostname() == "" && !query.Has("host") {
		return nil, errors.New("read a DSN: it names no host; " +
			"write postgres://USER:PASSWORD@HOST:PORT/DATABASE")
	}
	return u, checkPlain(query, u.Host)
}

// checkPlain refuses every way of asking for TLS. allow and prefer are content without it.
func checkPlain(query url.Values, host string) error {
	mode := query.Get("sslmode")
	if query.Has("ssl") {
		mode = "ssl=" + query.Get("ssl")
	}
	switch mode {
	case "", "disable", "allow", "prefer":
		return nil
	}
	return fmt.Errorf("read the DSN of %s: sslmode %q is refused: the lab watches the protocol "+
		"and sees nothing through TLS; use sslmode=disable", host, mode)
}

// emptyService writes the service file that answers for PGSERVICE: pgx insists on finding the
// service that the variable names, and a DSN can rename it but not unset it.
func emptyService() (string, error) {
	f, err := os.CreateTemp("", "webhooklab-service-")
	if err == nil {
		_, err = f.WriteString("[webhooklab]\n")
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return "", fmt.Errorf("write a service file against PGSERVICE: %w; unset PGSERVICE", err)
	}
	return f.Name(), nil
}

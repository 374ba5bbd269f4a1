#!/bin/bash
# Prepares PGDATA on the first start as the official image does, then becomes the server.
# Honours POSTGRES_USER, POSTGRES_PASSWORD, POSTGRES_DB, POSTGRES_INITDB_ARGS, PGDATA and
# /docker-entrypoint-initdb.d (*.sql and *.sh).
set -euo pipefail

if [ "$(id -u)" = 0 ]; then
	mkdir -p "$PGDATA"
	chown postgres "$PGDATA"
	chmod 700 "$PGDATA"
	exec setpriv --reuid=postgres --regid=postgres --clear-groups "$0" "$@"
fi

prepare() {
	local user=${POSTGRES_USER:-postgres} db
	db=${POSTGRES_DB:-$user}
	: "${POSTGRES_PASSWORD:?set POSTGRES_PASSWORD: this image has no default}"
	# Word splitting is wanted: the variable holds several arguments.
	# shellcheck disable=SC2086
	initdb --username="$user" --pwfile=<(printf '%s\n' "$POSTGRES_PASSWORD") \
		--auth-local=trust --auth-host=scram-sha-256 ${POSTGRES_INITDB_ARGS:-}
	echo "listen_addresses = '*'" >>"$PGDATA/postgresql.conf"
	echo "host all all all scram-sha-256" >>"$PGDATA/pg_hba.conf"

	# Without TCP, so that nobody outside takes this server for the final one.
	pg_ctl -w -o "-c listen_addresses=''" start
	if [ "$db" != postgres ]; then
		psql -v ON_ERROR_STOP=1 -U "$user" -d postgres -v db="$db" <<<'CREATE DATABASE :"db";'
	fi
	for file in /docker-entrypoint-initdb.d/*; do
		case $file in
		*.sh) . "$file" ;;
		*.sql) psql -v ON_ERROR_STOP=1 -U "$user" -d "$db" -f "$file" ;;
		esac
	done
	pg_ctl -w -m fast stop
}

if [ "${1:-}" = postgres ] && [ ! -s "$PGDATA/PG_VERSION" ]; then
	prepare
fi
exec "$@"

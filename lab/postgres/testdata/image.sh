#!/bin/bash
# Builds a container image from this machine's own PostgreSQL, for engines without a registry:
#   image.sh [FOLDER WITH postgres AND initdb]
# Prints the image's name on its last line: webhooklab-postgres:local-<version>.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
bin=${1:-$(ls -d /usr/lib/postgresql/*/bin | sort -V | tail -n 1)}
version=$("$bin/postgres" -V | sed -E 's/.*\(PostgreSQL\) ([0-9.]+).*/\1/')
share=$("$bin/pg_config" --sharedir)
pkglib=$("$bin/pg_config" --pkglibdir)
image=webhooklab-postgres:local-$version

tools="bash id mkdir chown chmod cat ls sed setpriv sleep"
list=$(mktemp)
root=$(mktemp -d)
trap 'rm -rf "$list" "$root"' EXIT

# The server without llvmjit, which alone would bring 100 MB; what it is linked with; the
# programs that the entry point runs.
{
	find "$bin" "$share" "$pkglib" -not -name 'llvmjit*' -not -path '*/bitcode*' \
		\( -type f -o -type l \)
	find /usr/share/zoneinfo \( -type f -o -type l \)
	for tool in $tools; do command -v "$tool"; done
} >"$list"
grep -E '/bin/|\.so(\.|$)' "$list" | xargs -n 1 ldd 2>/dev/null |
	grep -oE '/[^ ]+\.so[^ ]*' | sort -u >>"$list"

# Copied by their contents to the same paths, so that links inside the list still hold.
tar -C / --dereference --hard-dereference --ignore-failed-read -cf - \
	--transform='s,^/,,' -P -T <(sort -u "$list") 2>/dev/null | tar -xf - -C "$root"

mkdir -p "$root"/{etc,tmp,run,var/run/postgresql,var/lib/postgresql/data,docker-entrypoint-initdb.d}
mkdir -p "$root/usr/local/bin"
[ -e "$root/bin" ] || ln -s usr/bin "$root/bin"
[ -e "$root/bin/sh" ] || ln -s bash "$root/bin/sh"
printf '%s\n' root:x:0:0::/:/bin/sh \
	postgres:x:999:999::/var/lib/postgresql:/bin/sh >"$root/etc/passwd"
printf '%s\n' root:x:0: postgres:x:999: >"$root/etc/group"
install -m 755 "$here/entrypoint.sh" "$root/usr/local/bin/entrypoint.sh"
chmod 1777 "$root/tmp"
chown -R 999:999 "$root/var/lib/postgresql" "$root/var/run/postgresql"

tar -C "$root" -cf - . | docker import \
	--change "ENV PATH=$bin:/usr/local/bin:/usr/bin:/bin" \
	--change "ENV PGDATA=/var/lib/postgresql/data" \
	--change "ENV PG_MAJOR=${version%%.*} PG_VERSION=$version LANG=C LC_ALL=C" \
	--change 'ENTRYPOINT ["/usr/local/bin/entrypoint.sh"]' \
	--change 'CMD ["postgres"]' \
	--change "VOLUME /var/lib/postgresql/data" \
	--change "EXPOSE 5432" \
	- "$image" >/dev/null
echo "$image"

#!/bin/bash
# Builds a container image for engines without a registry, from this machine's own PostgreSQL or,
# as root on a Debian, from that of another suite, of which nothing is installed:
#   image.sh [FOLDER WITH postgres AND initdb | SUITE]
# Prints the image's name on its last line: webhooklab-postgres:local-<version>.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
list=$work/list root=$work/root suite=$work/suite
mkdir "$root" "$suite"
tools="bash id mkdir chown chmod cat ls sed setpriv sleep"
in_source=() # what begins a command where the files come from: nothing for this machine

# unpack SUITE: its PostgreSQL and the programs that are needed to look at it, all in $suite.
unpack() {
	local apt=(apt-get -qq -o Dir::Etc="$work/etc" -o Dir::State="$work/apt"
		-o Dir::State::status="$work/status" -o Dir::Cache="$work/apt" -o APT::Sandbox::User=root)
	mkdir -p "$work"/apt/{lists,archives}/partial "$work"/etc/{sources.list,preferences}.d
	touch "$work/status"
	echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]" \
		"${DEBIAN_MIRROR:-http://deb.debian.org/debian} $1 main" >"$work/etc/sources.list"
	"${apt[@]}" update >&2
	"${apt[@]}" install --yes --download-only --no-install-recommends postgresql base-files bash \
		coreutils findutils libc-bin sed tar tzdata util-linux >&2
	for package in "$work"/apt/archives/*.deb; do
		dpkg-deb --fsys-tarfile "$package" | tar -xf - -C "$suite" --keep-directory-symlink
	done
	in_source=(chroot "$suite")
}

# at_source COMMAND...: runs it where the files come from.
at_source() { "${in_source[@]}" "$@"; }

case ${1:-} in
"" | */*) ;;
*)
	unpack "$1"
	shift
	;;
esac
bin=${1:-$(at_source find /usr/lib/postgresql -name bin | sort -V | tail -n 1)}
version=$(at_source "$bin/postgres" -V | sed -E 's/.*\(PostgreSQL\) ([0-9.]+).*/\1/')
share=$(at_source "$bin/pg_config" --sharedir)
pkglib=$(at_source "$bin/pg_config" --pkglibdir)
image=webhooklab-postgres:local-$version

# The server without llvmjit, which alone would bring 100 MB; what it is linked with; the
# programs that the entry point runs.
{
	at_source find "$bin" "$share" "$pkglib" -not -name 'llvmjit*' \
		-not -path '*/bitcode*' \( -type f -o -type l \)
	at_source find /usr/share/zoneinfo \( -type f -o -type l \)
	at_source bash -ec "for tool in $tools; do command -v \$tool; done"
} >"$list"
grep -E '/bin/|\.so(\.|$)' "$list" | xargs -n 1 "${in_source[@]}" ldd 2>/dev/null |
	grep -oE '/[^ ]+\.so[^ ]*' | sort -u >>"$list"

# Copied by their contents to the same paths, so that links inside the list still hold.
sort -u "$list" | at_source tar -C / --dereference --hard-dereference --ignore-failed-read \
	-cf - --transform='s,^/,,' -P -T - 2>/dev/null | tar -xf - -C "$root"

# From 18 on the official image keeps its data one folder deeper, below the volume.
volume=/var/lib/postgresql/data data=/var/lib/postgresql/data
if ((${version%%.*} >= 18)); then
	volume=/var/lib/postgresql data=/var/lib/postgresql/${version%%.*}/docker
fi

mkdir -p "$root"/{etc,tmp,run,var/run/postgresql,docker-entrypoint-initdb.d} "$root$data"
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
	--change "ENV PGDATA=$data" \
	--change "ENV PG_MAJOR=${version%%.*} PG_VERSION=$version LANG=C LC_ALL=C" \
	--change 'ENTRYPOINT ["/usr/local/bin/entrypoint.sh"]' \
	--change 'CMD ["postgres"]' \
	--change "VOLUME $volume" \
	--change "EXPOSE 5432" \
	- "$image" >/dev/null
echo "$image"

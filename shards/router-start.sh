#!/bin/sh
# Makes the router's server on a new volume, and runs it. Clients come over TCP with passwords; on the shards every
# login has the one password that the router's password file holds, so that nobody else can log in there.
set -eu
data=/var/lib/postgresql/router
secret=/var/lib/postgresql/shards.pass
umask 077
printf '*:*:*:*:%s\n' "${PGMNEMO_SHARD_SECRET:?set PGMNEMO_SHARD_SECRET}" >"$secret"
if [ ! -s "$data/PG_VERSION" ]; then
  printf '%s' "${PGMNEMO_PASSWORD:?set PGMNEMO_PASSWORD}" >/var/lib/postgresql/operator.pass
  initdb -D "$data" -U pgmnemo --pwfile=/var/lib/postgresql/operator.pass --auth=scram-sha-256 --encoding=UTF8 --locale=C.UTF-8
  rm /var/lib/postgresql/operator.pass
  echo "host all all all scram-sha-256" >>"$data/pg_hba.conf"
  # Before anyone can reach it over TCP.
  PGPASSWORD="$PGMNEMO_PASSWORD" pg_ctl -D "$data" -w -o "-c listen_addresses=''" start
  PGPASSWORD="$PGMNEMO_PASSWORD" createdb -U pgmnemo -h /var/run/postgresql pgmnemo
  pg_ctl -D "$data" -w -m fast stop
fi
unset PGMNEMO_PASSWORD PGMNEMO_SHARD_SECRET
export PGPASSFILE="$secret"
exec postgres -D "$data" -c listen_addresses='*' -c max_connections=500 -c cluster_name=pgmnemo_router

#!/bin/sh
# Writes an upgrade script from its outline (the first argument), in which a line may name parts of src/:
#   @file NAME       the file as it is
#   @replace NAME    the file, its functions and triggers replacing those that are there
#   @comments NAME   the file's COMMENT statements alone
#   @functions       every file that makes a function, as @replace does
set -eu
LC_ALL=C
export LC_ALL
cd "$(dirname "$0")/../src"

replace() {
  sed -E 's/^CREATE (FUNCTION|TRIGGER) /CREATE OR REPLACE \1 /' "$@"
}

printf '%s\n' '\echo Use "ALTER EXTENSION pgmnemo UPDATE" to load this file. \quit'
while IFS= read -r line; do
  case $line in
    '@functions') grep -l '^CREATE FUNCTION' ./*.sql | sort | while read -r name; do replace "$name"; done ;;
    '@file '*) cat "${line#* }" ;;
    '@replace '*) replace "${line#* }" ;;
    '@comments '*) sed -n '/^COMMENT /,/;$/p' "${line#* }" ;;
    '@'*) echo "$1: what is $line?" >&2; exit 1 ;;
    *) printf '%s\n' "$line" ;;
  esac
done < "../upgrade/$1"

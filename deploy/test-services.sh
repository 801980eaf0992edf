#!/usr/bin/env bash
# What the tests of real services need and Debian has: Java and Maven (for Apache Kafka), Redis, Chromium.
# Installs what is missing where it may (root, apt-get); else says what is missing and goes on: those tests skip.
set -euo pipefail

missing=()
if [ -z "${KAFKA_BOOTSTRAP_SERVERS:-}" ]; then
  command -v java >/dev/null || missing+=(default-jre-headless)
  command -v mvn >/dev/null || missing+=(maven)
fi
if [ -z "${REDIS_URL:-}" ]; then
  command -v redis-server >/dev/null || missing+=(redis-server)
fi
command -v chromium >/dev/null || missing+=(chromium)
[ "${#missing[@]}" -gt 0 ] || exit 0

if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
  echo "Tests of real services may skip. Missing here: ${missing[*]} (Debian's names; apt-get install as root)" >&2
  exit 0
fi
# A package that installs a server must not start it: the tests start their own.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  printf '#!/bin/sh\nexit 101\n' >"$policy"
  chmod +x "$policy"
  trap 'rm -f "$policy"' EXIT
fi
export DEBIAN_FRONTEND=noninteractive
if ! { apt-get update -q && apt-get install -y -q --no-install-recommends "${missing[@]}"; } >&2; then
  echo "Tests of real services may skip: Debian's packages could not be installed: ${missing[*]}" >&2
fi

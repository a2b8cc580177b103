#!/bin/sh
# `tidings` on a server: the same program, user and settings as the services. Installed as /usr/local/bin/tidings.
set -eu
cd /
if [ "$(id -un)" = tidings ]; then as=; else as='runuser --user tidings --'; fi
exec $as env TIDINGS_ENV_FILE=/etc/tidings/tidings.env TIDINGS_DATA=/var/lib/tidings /opt/tidings/bin/tidings "$@"

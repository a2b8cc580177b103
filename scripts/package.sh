#!/bin/sh
# Makes a folder with the program, the built cabinet and widget, and the production dependencies: all that a server or an image needs
# to run any command of Tidings.
#
#   npm ci && scripts/package.sh /opt/tidings
#
# The Dockerfile runs the same two commands. e2e/deploy/package.test.ts starts a service from the folder.
set -eu

if [ $# -ne 1 ] || [ "${1#-}" != "$1" ]; then
  echo "usage: scripts/package.sh FOLDER (a new folder, e.g. /opt/tidings)" >&2
  exit 1
fi
if [ -e "$1" ]; then
  echo "package.sh: $1 exists already: name a new folder." >&2
  exit 1
fi
root=$(cd "$(dirname "$0")/.." && pwd)
for built in node_modules/.bin/node dist/cabinet/index.html dist/widget/VerifyWidget.umd.min.js; do
  if [ ! -e "$root/$built" ]; then
    echo "package.sh: $built is missing: run \`npm ci\` in $root first." >&2
    exit 1
  fi
done
mkdir -p "$1"
target=$(cd "$1" && pwd)

cd "$root"
cp -R bin dist migrations LICENSE package.json package-lock.json "$target"
find src -type f ! -path 'src/testing/*' ! -name '*.test.ts' ! -name '*.contract.ts' | tar -cf - -T - | tar -xf - -C "$target"

# npm names the folders of all production packages, nested packages included. Copying these alone needs neither the network nor install
# scripts. The package of Node.js keeps a second copy of the program below itself, which is left out.
listed=$(npm ls --omit=dev --all --parseable)
packages=$(echo "$listed" | sed -n "s|^$root/||p" | grep -v '^node_modules/node/' | sort -u)
for package in node_modules/.bin/node $packages; do
  tar -cf - --exclude="$package/node_modules" "$package"
done | tar -xf - -i -C "$target"

#!/bin/sh
# findBuilt.sh NAME…: prints each of these images that is here: its name, its id, its platform, and its layers as JSON.
command -v as_root >/dev/null 2>&1 || . "$(dirname "$0")/../lib/standalone.sh"
format='{{.Id}} {{.Os}}/{{.Architecture}} {{json .RootFS.Layers}}'
for name; do
  image=$(as_root docker image inspect --format "$format" "$name" 2>/dev/null </dev/null) &&
    printf '%s %s\n' "$name" "$image"
done
true

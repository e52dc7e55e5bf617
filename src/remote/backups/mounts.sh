#!/bin/sh
# mounts.sh DIRECTORY: prints a line for each running container of the stack in a directory: its service, and the names
# of the volumes that it mounts, which have no blanks.
command -v as_root >/dev/null 2>&1 || . "$(dirname "$0")/../lib/standalone.sh"
. "$(dirname "$0")/../lib/stackContainers.sh"
cd "$(path_of "$1")" 2>/dev/null || exit 0
ids=$(stack_ps '{{.ID}}') || exit 1
# shellcheck disable=SC2086 # A list of ids.
[ -z "$ids" ] || as_root docker inspect --type container --format '{{index .Config.Labels "com.docker.compose.service"}}{{range .Mounts}}{{if eq .Type "volume"}} {{.Name}}{{end}}{{end}}' $ids </dev/null

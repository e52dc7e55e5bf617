#!/bin/sh
# findContainers.sh DIRECTORY: prints `absent` if the directory does not exist, else a line for each container of its
# stack, like `id|names|service|number|state|oneoff`.
command -v as_root >/dev/null 2>&1 || . "$(dirname "$0")/../lib/standalone.sh"
. "$(dirname "$0")/../lib/stackContainers.sh"
cd "$(path_of "$1")" 2>/dev/null || { echo absent; exit 0; }
stack_ps '{{.ID}}|{{.Names}}|{{.Label "com.docker.compose.service"}}|{{.Label "com.docker.compose.container-number"}}|{{.State}}|{{.Label "com.docker.compose.oneoff"}}' -a

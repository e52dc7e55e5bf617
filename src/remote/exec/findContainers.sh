#!/bin/sh
# findContainers.sh DIRECTORY: prints `absent` if the directory does not exist, else a line for each container of its
# stack, like `id|names|service|number|state|oneoff`.
command -v as_root >/dev/null 2>&1 || . "$(dirname "$0")/../lib/standalone.sh"
cd "$(path_of "$1")" 2>/dev/null || { echo absent; exit 0; }
as_root docker ps -a --no-trunc --filter "label=com.docker.compose.project.working_dir=$(pwd -P)" --format \
  '{{.ID}}|{{.Names}}|{{.Label "com.docker.compose.service"}}|{{.Label "com.docker.compose.container-number"}}|{{.State}}|{{.Label "com.docker.compose.oneoff"}}' \
  </dev/null

// Generated from findContainers.sh by "npm run scripts".
export const script = `cd "$(path_of "$1")" 2>/dev/null || { echo absent; exit 0; }
as_root docker ps -a --no-trunc --filter "label=com.docker.compose.project.working_dir=$(pwd -P)" --format \\
'{{.ID}}|{{.Names}}|{{.Label "com.docker.compose.service"}}|{{.Label "com.docker.compose.container-number"}}|{{.State}}|{{.Label "com.docker.compose.oneoff"}}' \\
</dev/null
`

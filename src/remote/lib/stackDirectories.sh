# shellcheck shell=sh
# stack_directories: prints the real path of each directory of a stack once: below ~/containers, of the compose
# containers, and of the remote paths in the lines of stdin.
stack_directories() {
  {
    for directory in "$HOME"/containers/*/ "$HOME"/containers/.[!.]*/; do printf '%s\n' "$directory"; done
    as_root docker ps -a --format '{{.Label "com.docker.compose.project.working_dir"}}' </dev/null
    while IFS= read -r given; do printf '%s\n' "$(path_of "$given")"; done
  } | LC_ALL=C sort -u | while IFS= read -r directory; do
    case $directory in /*) ;; *) continue ;; esac
    (cd "$directory" 2>/dev/null && pwd -P)
  done | LC_ALL=C sort -u
}
# berth_directories: those of them with releases, or leftovers, of Berth.
berth_directories() {
  stack_directories | while IFS= read -r directory; do
    [ ! -d "$directory/.berth" ] || printf '%s\n' "$directory"
  done
}

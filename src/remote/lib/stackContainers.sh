# shellcheck shell=sh
# A stack is what compose made in a directory. Compose 2 labels a container with the path by which it was called there,
# which may lead over a link, and 1.x with the real one. Two directories may have stacks of one name, whose containers
# compose takes for its own.
# stack_places FORMAT [OPTION…]: lists containers as `docker ps` does with the options: `.` for those of the stack in
# this directory (stack_here: in another), else the directory of their stack, nothing without one; then a tab, and the
# format. Fails if Docker does.
stack_places() {
  stack_format="{{.Label \"com.docker.compose.project.working_dir\"}}	$1"
  shift
  stack_listed=$(as_root docker ps --no-trunc "$@" --format "$stack_format" </dev/null) || return 1
  printf '%s\n' "$stack_listed" | while IFS= read -r stack_line; do
    stack_place=${stack_line%%	*}
    # Every shell has -ef, and POSIX since 2024.
    # shellcheck disable=SC3013
    case $stack_place in
      /*) [ ! "$stack_place" -ef "${stack_here:-.}" ] || stack_place=. ;;
      *) stack_place= ;;
    esac
    printf '%s\t%s\n' "$stack_place" "${stack_line#*	}"
  done
}
# stack_ps FORMAT [OPTION…]: lists those of this directory.
stack_ps() {
  stack_all=$(stack_places "$@") || return 1
  printf '%s\n' "$stack_all" | sed -n 's/^\.	//p'
}
# stack_names [NAME]: prints the names that compose may give the stack of that directory: NAME if its files set one,
# else those that its versions derive from the name of the directory, which may be a link.
# shellcheck disable=SC2120 # Others pass a name.
stack_names() {
  if [ -n "${1:-}" ]; then printf '%s\n' "$1"
  else
    stack_base=${stack_here:-$PWD}
    stack_base=${stack_base%/}
    printf '%s\n' "${stack_base##*/}"
    (cd "${stack_here:-.}" 2>/dev/null && stack_base=$(pwd -P) && printf '%s\n' "${stack_base##*/}")
  fi | LC_ALL=C tr '[:upper:]' '[:lower:]' | LC_ALL=C sed -e 's/[^a-z0-9_-]//g' -e p -e 's/^[_-]*//' | LC_ALL=C sort -u
}
# named_one_of NAMES: picks the lines whose first field is one of the names, without it.
named_one_of() {
  stack_is=$1 awk -F '\t' '
    BEGIN { for (at = split(ENVIRON["stack_is"], all, "\n"); at > 0; at--) if (all[at] != "") is[all[at]] = 1 }
    $1 in is { sub(/^[^\t]*\t/, ""); print }'
}
# foreign_among NAMES: picks the containers of other directories whose stack has one of the names from lines of
# stack_places with project and container; prints directory, container, project.
foreign_among() {
  stack_is=$1 awk -F '\t' '
    BEGIN { for (at = split(ENVIRON["stack_is"], all, "\n"); at > 0; at--) if (all[at] != "") is[all[at]] = 1 }
    $1 != "." && $1 != "" && $2 in is { print $1 "\t" $3 "\t" $2 }'
}
# stack_foreign: lists the containers of other directories whose stack has the name of the one here: that of its
# containers, and that which its last deploy has noted, else those of the directory. Compose would act on them for this
# stack.
stack_foreign() {
  stack_all=$(stack_places "{{.Label \"com.docker.compose.project\"}}	{{.Names}}" -a) || return 1
  foreign_of "$stack_all"
}
# foreign_of LINES: the same from lines of stack_places with project, container and more.
foreign_of() {
  stack_all=$1
  stack_is=$({ printf '%s\n' "$stack_all" | sed -n 's/^\.	\([^	]*\)	.*/\1/p'; sed -n 's/^project	//p' .berth/stack 2>/dev/null; } | grep . || stack_names)
  printf '%s\n' "$stack_all" | foreign_among "$stack_is"
}

# shellcheck shell=sh
# path_of PATH prints a path that is safe for any program: `~` and `~/…` below the home of the remote user, everything
# else unchanged, with a leading `-` made harmless.
# shellcheck disable=SC2088 # The shell that read the argument did not expand it.
path_of() {
  case $1 in
    "~") printf '%s\n' "$HOME" ;;
    "~/"*) printf '%s\n' "$HOME/${1#??}" ;;
    -*) printf '%s\n' "./$1" ;;
    *) printf '%s\n' "$1" ;;
  esac
}

# shellcheck shell=sh
# Prefix of every remote script that needs sudo; defines `as_root PROGRAM …`.
# The password is the first line of stdin and a shell variable that is never exported. Only sudo gets it in its
# environment, for an askpass program that prints it once and removes itself. A wrong password is therefore a single
# attempt, and sudo's own prompt never blocks. Each call makes its own askpass program, because sudo may ask each time.
# The subshell hides the trap, the umask and the names from the script.
# A script that must not be stopped halfway sets berth_ignores once it ignores the signals.
unset berth_password berth_ignores
IFS= read -r berth_password || :
berth_user=$(id -u)
as_root() {
  if [ "$berth_user" = 0 ]; then
    "$@"
  elif [ -z "$berth_password" ]; then
    LC_ALL=C sudo -n "$@"
  else
    berth_sudo "$@"
  fi
}
berth_sudo() (
  berth_umask=$(umask)
  umask 077
  berth_dir=
  # Each trap cleans up by itself: a second signal may end the shell while it runs another one.
  # shellcheck disable=SC2016 # The traps expand it.
  berth_clean='trap "" HUP INT TERM; [ -z "$berth_dir" ] || rm -rf "$berth_dir"'
  # shellcheck disable=SC2064 # The text that each contains is constant.
  {
    trap "$berth_clean" EXIT
    [ -n "${berth_ignores:-}" ] || trap "$berth_clean; exit 129" HUP
    trap "$berth_clean; exit 130" INT
    [ -n "${berth_ignores:-}" ] || trap "$berth_clean; exit 143" TERM
  }
  # A signal meanwhile ends the shell once it knows the directory.
  berth_dir=$(
    trap '' HUP INT TERM
    mktemp -d "$HOME/.berth.XXXXXX" 2>/dev/null || mktemp -d /tmp/.berth.XXXXXX
  ) || exit 1
  # shellcheck disable=SC2016 # That program expands them.
  printf '%s\n' '#!/bin/sh' 'rm -f "$0"' 'printf "%s\n" "$BERTH_PASSWORD"' >"$berth_dir/askpass" || exit 1
  chmod 700 "$berth_dir/askpass"
  umask "$berth_umask"
  BERTH_PASSWORD=$berth_password SUDO_ASKPASS=$berth_dir/askpass LC_ALL=C sudo -A "$@"
  exit $?
)

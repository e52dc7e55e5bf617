// Generated from sudo.sh by "npm run scripts".
export const script = `unset berth_password berth_ignores
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
berth_clean='trap "" HUP INT TERM; [ -z "$berth_dir" ] || rm -rf "$berth_dir"'
{
trap "$berth_clean" EXIT
[ -n "\${berth_ignores:-}" ] || trap "$berth_clean; exit 129" HUP
trap "$berth_clean; exit 130" INT
[ -n "\${berth_ignores:-}" ] || trap "$berth_clean; exit 143" TERM
}
berth_dir=$(
trap '' HUP INT TERM
mktemp -d "$HOME/.berth.XXXXXX" 2>/dev/null || mktemp -d /tmp/.berth.XXXXXX
) || exit 1
printf '%s\\n' '#!/bin/sh' 'rm -f "$0"' 'printf "%s\\n" "$BERTH_PASSWORD"' >"$berth_dir/askpass" || exit 1
chmod 700 "$berth_dir/askpass"
umask "$berth_umask"
BERTH_PASSWORD=$berth_password SUDO_ASKPASS=$berth_dir/askpass LC_ALL=C sudo -A "$@"
exit $?
)
`

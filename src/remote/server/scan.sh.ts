// Generated from scan.sh by "npm run scripts".
export const script = `LC_ALL=C
export LC_ALL
printf 'berth-scan\\0'
limit=$1
shift
root=$(path_of "~/containers")
[ -e "$root" ] || exit 0
cd "$root" || exit 1
for name in * .[!.]* ..?*; do
directory=./$name
case $name in .berth*) continue ;; esac
[ ! -L "$directory" ] && [ -d "$directory" ] && [ -r "$directory" ] && [ -x "$directory" ] || continue
compose=
for file do
if [ -f "$directory/$file" ]; then compose=$file; break; fi
done
[ -z "$compose" ] || [ -r "$directory/$compose" ] || continue
env=
[ ! -f "$directory/.env" ] || env=yes
data=
[ ! -d "$directory/data" ] || data=yes
archive=
for file in "$directory"/*.tar; do
if [ -f "$file" ]; then archive=\${file##*/}; break; fi
done
printf '%s\\0' "$name" "$compose" "$env" "$data" "$archive"
[ -z "$compose" ] || head -c "$limit" <"$directory/$compose" | tr -d '\\000'
printf '\\0'
done
exit 0
`

// Generated from activate.sh by "npm run scripts".
export const script = `trap '' HUP PIPE TERM
berth_ignores=yes
cd "$(path_of "$1")" || exit 1
compose_kind=$2
compose_version=$3
compose_file=$4
store=$5
source=$6
archive=$7
format=$8
expected=$9
shift 9
run=$1
platform=$2
files_staged=$3
names=$4
shift 4
broken() { echo "the connection broke before anything was changed" >&2; exit 1; }
read_part() {
part=
IFS= read -r part_size || :
case $part_size in "" | 0 | *[!0-9]*) broken ;; esac
part=$(dd "bs=$part_size" "count=1" "iflag=fullblock" 2>/dev/null; echo x)
part=\${part%x}
[ "$(printf '%s' "$part" | wc -c)" -eq "$part_size" ] || broken
}
read_part
manifest=$part
tab=$(printf '\\t')
about() { printf '%s\\n' "$manifest" | sed -n "s/^$1$tab//p"; }
checking=$(about check)
check_warning=
if [ -n "$checking" ]; then
read_part
check_expected=$part
fi
read_part
eval "$part"
`

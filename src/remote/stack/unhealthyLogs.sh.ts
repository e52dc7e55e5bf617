// Generated from unhealthyLogs.sh by "npm run scripts".
export const script = `cd "$(path_of "$1")" || exit 1
count=$2
shift 2
masked() {
LC_ALL=C awk -v kind="$1" '
BEGIN {
while ((getline name < ".berth/deployed") > 0) while ((getline value < ("./" name)) > 0) {
sub(/\\r$/, "", value)
if (value ~ /^[ \\t]*#/ || !sub(/^[^=]*=/, "", value)) continue
gsub(/^[ \\t]+|[ \\t]+$/, "", value)
if (value ~ /^".*"$/ || value ~ /^\\047.*\\047$/) value = substr(value, 2, length(value) - 2)
if (length(value) >= 6) values[++count] = value
}
for (i = 2; i <= count; i++) for (j = i; j > 1 && length(values[j]) > length(values[j - 1]); j--) {
value = values[j]
values[j] = values[j - 1]
values[j - 1] = value
}
}
{
line = $0
for (i = 1; i <= count; i++) {
shown = ""
while ((at = index(line, values[i])) > 0) {
shown = shown substr(line, 1, at - 1) "***"
line = substr(line, at + length(values[i]))
}
line = shown line
}
print kind "\\t" substr(line, 1, 1000)
}'
}
failed_check() {
as_root docker inspect --type container --format '{{$last := ""}}{{range .State.Health.Log}}{{$last = .}}{{end}}{{with $last}}{{println .ExitCode}}{{.Output}}{{end}}' "$1" 2>/dev/null </dev/null | LC_ALL=C awk '
NR == 1 { if ($0 !~ /^-?[1-9][0-9]*$/) exit; print; next }
{ total += length($0) + 1; isCut = /\\.\\.\\.$/ }
{ sub(/\\r+$/, ""); sub(/.*\\r/, "") }
/[^ \\t]/ { lines[++count] = $0 }
END {
if (isCut && total > 4096) { if (count > 1) count--; else lines[count] = "..." }
first = count + 1
while (first > 1 && count - first < 9 && (first > count || bytes + length(lines[first - 1]) <= 1024)) bytes += length(lines[--first])
for (; first <= count; first++) print lines[first]
}'
}
for id do
printf 'container\\t%s\\n' "$id"
failed_check "$id" | masked check
as_root docker logs --tail "$count" "$id" 2>&1 </dev/null | tail -n "$count" | tail -c 20000 | masked line
done
exit 0
`

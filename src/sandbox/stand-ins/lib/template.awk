# Fills in a Go template. The object comes as lines of "path<TAB>value" (`.State.Status`, `.Config.Labels[name]`,
# `.RootFS.Layers[0]` with `.RootFS.Layers#` for their number) and "json:path<TAB>text" for whole parts; the template
# is in the environment as TEMPLATE. Ends with code 4 and a sentence where it does not understand the template.
function fail(words) { printf "docker stand-in: it does not understand %s in the template %s\n", words, template >"/dev/stderr"; failed = 1; exit 4 }
function known(path) { return (path in object) || (("json:" path) in object) || ((path "#") in object) }
function get(path) {
  if (path == ".") return here
  if (scope != "" && ((scope path) in object)) return object[scope path]
  if (path in object) return object[path]
  if (("json:" path) in object) return object["json:" path]
  fail("{{" path "}}")
}
function truth(path,   v) {
  if (path == ".") return here != ""
  if (path ~ /^\$/) return variable[path] != ""
  if ((path "#") in object) return object[path "#"] > 0
  if (path in object) { v = object[path]; return v != "" && v != "false" && v != "0" }
  return ("json:" path) in object && object["json:" path] != "null"
}
function escaped(v) { gsub(/\\/, "\\\\", v); gsub(/"/, "\\\"", v); return v }
function asJson(path,   v) {
  if (("json:" path) in object) return object["json:" path]
  v = get(path)
  return v ~ /^(true|false|null|-?[0-9]+)$/ ? v : "\"" escaped(v) "\""
}
# One call: "json .X", "index .X \"key\"", ".Label \"key\"", "join .X \"s\"", "println .X", or a path.
function call(words,   parts, count, key, i, out) {
  count = split(words, parts, " ")
  if (parts[1] == "json" && count == 2) return asJson(parts[2])
  if (parts[1] == "println" && count == 2) return get(parts[2]) "\n"
  if (parts[1] == "print" && count == 2) return get(parts[2])
  if ((parts[1] == "index" || parts[1] == "join") && count >= 3) {
    key = substr(words, index(words, parts[2]) + length(parts[2]) + 1)
    gsub(/^ *"|" *$/, "", key)
    if (parts[1] == "index") return known(parts[2] "[" key "]") ? get(parts[2] "[" key "]") : ""
    out = ""
    for (i = 0; i < object[parts[2] "#"]; i++) out = out (i > 0 ? key : "") object[parts[2] "[" i "]"]
    return out
  }
  if (parts[1] == ".Label" && count == 2) return call("index .Config.Labels " parts[2])
  if (count == 1 && (words ~ /^\./)) return get(words)
  if (count == 1 && words ~ /^".*"$/) return substr(words, 2, length(words) - 2)
  fail("{{" words "}}")
}
# The token after the block that starts at `from`, at its {{else}} if `stop` asks for it.
function skip(from, stop,   depth, i) {
  depth = 0
  for (i = from; i <= tokens; i++) {
    if (kind[i] != "a") continue
    if (token[i] ~ /^(if|range|with) /) depth++
    else if (token[i] == "end") { if (depth == 0) return i; depth-- }
    else if (token[i] == "else" && depth == 0 && stop) return i
  }
  fail("a block without {{end}}")
}
function run(from, to,   i, word, rest, other, last, k, before, outer) {
  for (i = from; i < to; i++) {
    if (kind[i] == "t") { printf "%s", token[i]; continue }
    word = token[i]
    if (word ~ /^(if|range|with) /) {
      rest = word
      sub(/^[a-z]+ +/, "", rest)
      if (rest !~ /^[.$][^ ]*$/) fail("{{" word "}}")
      other = skip(i + 1, 1)
      last = token[other] == "else" ? skip(other + 1, 0) : other
      if (word ~ /^range /) {
        before = here
        outer = scope
        for (k = 0; k < object[rest "#"]; k++) { scope = rest "[" k "]"; here = object[scope]; run(i + 1, other) }
        here = before
        scope = outer
      } else if (truth(rest)) {
        before = here
        outer = scope
        if (word ~ /^with \$/) scope = variable[rest]
        else if (word ~ /^with /) here = get(rest)
        run(i + 1, other)
        here = before
        scope = outer
      } else if (other != last) run(other + 1, last)
      i = last
      continue
    }
    if (word ~ /^\/\*/) continue
    if (word ~ /^\$[a-z]+ :?= (""|\.)$/) { sub(/ .*/, "", word); variable[word] = token[i] ~ /\.$/ ? scope : ""; continue }
    printf "%s", call(word)
  }
}
BEGIN {
  template = ENVIRON["TEMPLATE"]
  rest = template
  gsub(/\\t/, "\t", rest)
  gsub(/\\n/, "\n", rest)
  while ((at = index(rest, "{{")) > 0) {
    kind[++tokens] = "t"
    token[tokens] = substr(rest, 1, at - 1)
    rest = substr(rest, at + 2)
    end = index(rest, "}}")
    if (end == 0) fail("an action without }}")
    word = substr(rest, 1, end - 1)
    rest = substr(rest, end + 2)
    if (word ~ /^- /) { sub(/^- /, "", word); sub(/[ \t\n]+$/, "", token[tokens]) }
    if (word ~ / -$/) { sub(/ -$/, "", word); sub(/^[ \t\n]+/, "", rest) }
    gsub(/^[ \t]+|[ \t]+$/, "", word)
    kind[++tokens] = "a"
    token[tokens] = word
  }
  kind[++tokens] = "t"
  token[tokens] = rest
}
{ at = index($0, "\t"); object[substr($0, 1, at - 1)] = substr($0, at + 1) }
END {
  if (failed) exit 4
  run(1, tokens + 1)
  if (failed) exit 4
  printf "\n"
}

# Reads a compose file and prints "path<TAB>value" lines as json.awk does: services/web/image, services/web/ports/0. It
# puts in the variables of the environment and of the file DOTENV. It knows the YAML that compose files are usually
# written in; what it does not know (anchors, merges, tags, lists over several lines in brackets) ends with code 4 and
# a sentence, what is wrong with code 5 and one like Docker's.
function fail(code, words) { if (!failed) { print words >"/dev/stderr"; failed = code }; exit failed }
function unknown(what) { fail(4, "docker stand-in: it does not understand " what " in line " NR " of " FILENAME) }
function wrong(what) { fail(5, "yaml: line " NR ": " what) }
function trim(t) { gsub(/^[ \t]+|[ \t\r]+$/, "", t); return t }
function variable(name, sign, word) {
  if (name in env) { if (env[name] != "" || sign !~ /^:/) return sign ~ /\+$/ ? word : env[name] }
  if (sign ~ /-$/) return word
  if (sign ~ /\+$/) return ""
  if (sign ~ /\?$/) fail(5, "error while interpolating: required variable " name " is missing a value: " word)
  if (!(name in env)) print "time=\"now\" level=warning msg=\"The \\\"" name "\\\" variable is not set. Defaulting to a blank string.\"" >"/dev/stderr"
  return ""
}
function interpolated(t,   out, at, name, rest, end, sign, word, depth, c) {
  out = ""
  while ((at = index(t, "$")) > 0) {
    out = out substr(t, 1, at - 1)
    t = substr(t, at + 1)
    c = substr(t, 1, 1)
    if (c == "$") { out = out "$"; t = substr(t, 2); continue }
    if (c == "{") {
      depth = 0
      for (end = 1; end <= length(t); end++) {
        c = substr(t, end, 1)
        if (c == "{") depth++
        if (c == "}" && --depth == 0) break
      }
      rest = substr(t, 2, end - 2)
      t = substr(t, end + 1)
      if (!match(rest, /^[A-Za-z_][A-Za-z0-9_]*/)) fail(5, "invalid interpolation format for \"${" rest "}\"")
      name = substr(rest, 1, RLENGTH)
      rest = substr(rest, RLENGTH + 1)
      sign = ""
      if (match(rest, /^:?[-?+]/)) { sign = substr(rest, 1, RLENGTH); word = interpolated(substr(rest, RLENGTH + 1)) }
      else if (rest != "") fail(5, "invalid interpolation format for \"${" name rest "}\"")
      out = out variable(name, sign, word)
    } else if (match(t, /^[A-Za-z_][A-Za-z0-9_]*/)) {
      name = substr(t, 1, RLENGTH)
      t = substr(t, RLENGTH + 1)
      out = out variable(name, "", "")
    } else out = out "$"
  }
  return out t
}
# A scalar without its quotes.
function scalar(t,   q) {
  t = trim(t)
  q = substr(t, 1, 1)
  if (q == "\"" || q == "'") {
    if (length(t) < 2 || substr(t, length(t), 1) != q) wrong("a quoted text does not end")
    t = substr(t, 2, length(t) - 2)
    if (q == "'") gsub(/''/, "'", t)
    else { gsub(/\\"/, "\"", t); gsub(/\\\\/, "\\", t) }
  } else if (t ~ /^[&*!|>%@`]/) unknown("\"" substr(t, 1, 1) "\"")
  else if (t == "~" || t == "null") t = ""
  return interpolated(t)
}
function leaf(path, t) { print path "\t" scalar(t) }
# A list or map in brackets on one line.
function flow(path, t,   i, c, q, depth, part, count, body) {
  body = substr(t, 2, length(t) - 2)
  if (substr(t, length(t), 1) != (substr(t, 1, 1) == "[" ? "]" : "}")) unknown("brackets over several lines")
  count = 0
  part = ""
  for (i = 1; i <= length(body) + 1; i++) {
    c = i > length(body) ? "," : substr(body, i, 1)
    if (q != "") { part = part c; if (c == q) q = ""; continue }
    if (c == "\"" || c == "'") q = c
    if (c == "[" || c == "{") depth++
    if (c == "]" || c == "}") depth--
    if (c == "," && depth == 0) {
      part = trim(part)
      if (part != "") {
        if (substr(t, 1, 1) == "[") node(path "/" count, part)
        else {
          if (!match(part, /:([ \t]|$)/)) unknown("\"" part "\"")
          node(path "/" scalar(substr(part, 1, RSTART - 1)), trim(substr(part, RSTART + 1)))
        }
        count++
      }
      part = ""
      continue
    }
    part = part c
  }
  print path "/#\t" count
}
function node(path, t) { if (t ~ /^[\[{]/) flow(path, t); else leaf(path, t) }
function uncommented(t,   i, c, q) {
  for (i = 1; i <= length(t); i++) {
    c = substr(t, i, 1)
    if (q != "") { if (c == q) q = ""; continue }
    if ((c == "\"" || c == "'") && (i == 1 || substr(t, i - 1, 1) ~ /[ \t\[{,:-]/)) q = c
    else if (c == "#" && (i == 1 || substr(t, i - 1, 1) ~ /[ \t]/)) return substr(t, 1, i - 1)
  }
  return t
}
# The text of a line that stands at a column: an item of a list, a key, or what follows a key.
function line(indent, t,   key, rest, q, path, width) {
  while (depth > 0 && (column[depth] > indent || (column[depth] == indent && !(t ~ /^-([ \t]|$)/ && !item[depth])))) depth--
  if (t ~ /^-([ \t]|$)/) {
    if (depth > 0 && column[depth] == indent && item[depth]) depth--
    path = depth > 0 ? at[depth] : ""
    if (depth > 0 && !open[depth]) wrong("did not find expected key")
    depth++
    column[depth] = indent
    item[depth] = 1
    at[depth] = path "/" (items[path] + 0)
    items[path]++
    open[depth] = 1
    rest = substr(t, 2)
    width = match(rest, /[^ \t]/)
    if (width == 0) return
    line(indent + width, trim(rest))
    return
  }
  path = depth > 0 ? at[depth] : ""
  if (!(path in below)) below[path] = indent
  else if (below[path] != indent) wrong("did not find expected key")
  q = substr(t, 1, 1)
  if (q == "\"" || q == "'") {
    width = index(substr(t, 2), q)
    if (width > 0 && substr(t, width + 2) ~ /^[ \t]*:([ \t]|$)/) {
      key = substr(t, 2, width - 1)
      rest = substr(t, width + 2)
      sub(/^[ \t]*:/, "", rest)
    }
  } else if (t !~ /^[\[{]/ && match(t, /:([ \t]|$)/)) {
    key = trim(substr(t, 1, RSTART - 1))
    rest = substr(t, RSTART + 1)
  }
  if (key == "") {
    if (depth == 0 || !item[depth]) wrong("could not find expected ':'")
    node(path, t)
    open[depth] = 0
    return
  }
  if (key == "<<") unknown("a merge (<<)")
  if (depth > 0 && !open[depth]) wrong("mapping values are not allowed in this context")
  if ((path "/" key) in seen) fail(5, "yaml: construct errors: line " NR ": mapping key \"" key "\" already defined")
  seen[path "/" key] = 1
  path = path == "" ? key : path "/" key
  rest = trim(rest)
  depth++
  column[depth] = indent
  item[depth] = 0
  at[depth] = path
  open[depth] = rest == ""
  if (rest == "") { print path "/:\t"; return }
  if (rest ~ /^[|>][-+0-9]*$/) { block = indent; blockPath = path; blockText = ""; return }
  node(path, rest)
}
BEGIN {
  block = -1
  file = ENVIRON["DOTENV"]
  if (file != "") while ((getline entry < file) > 0) {
    sub(/\r$/, "", entry)
    sub(/^[ \t]*(export[ \t]+)?/, "", entry)
    if (entry ~ /^#/ || (eq = index(entry, "=")) == 0) continue
    value = trim(substr(entry, eq + 1))
    if (value ~ /^".*"$/ || value ~ /^'.*'$/) value = substr(value, 2, length(value) - 2)
    else sub(/[ \t]+#.*$/, "", value)
    env[trim(substr(entry, 1, eq - 1))] = value
  }
  for (name in ENVIRON) if (name != "DOTENV") env[name] = ENVIRON[name]
}
{
  sub(/\r$/, "")
  match($0, /^ */)
  indent = RLENGTH
  if (block >= 0) {
    if ($0 ~ /^[ \t]*$/ || indent > block) { blockText = blockText (blockText == "" ? "" : " ") trim($0); next }
    print blockPath "\t" interpolated(blockText)
    block = -1
  }
  if (NR == 1) sub(/^\357\273\277/, "")
  text = uncommented(substr($0, indent + 1))
  if (text ~ /^[ \t]*$/ || (indent == 0 && text ~ /^(---|%|\.\.\.)/)) next
  if (text ~ /^\t/) wrong("found character that cannot start any token")
  line(indent, trim(text))
}
END {
  if (failed) exit failed
  if (block >= 0) print blockPath "\t" interpolated(blockText)
}

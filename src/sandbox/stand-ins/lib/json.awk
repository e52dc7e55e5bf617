# Flattens JSON into lines of "path<TAB>value": the path's parts are joined by "/", list items count from 0. A list or
# object also gets a line with its number of members, "path/#". Ends with code 3 when the text is not valid JSON.
function fail() { failed = 1; exit 3 }
function space() { while (at <= size && index(" \t\r\n", substr(text, at, 1)) > 0) at++ }
function string(   out, c) {
  if (substr(text, at, 1) != "\"") fail()
  at++
  out = ""
  while (at <= size) {
    c = substr(text, at, 1)
    if (c == "\"") { at++; return out }
    if (c == "\\") {
      at++
      c = substr(text, at, 1)
      if (c == "u") { out = out sprintf("\\u%s", substr(text, at + 1, 4)); at += 5; continue }
      if (c == "n" || c == "r" || c == "t" || c == "b" || c == "f") c = " "
    }
    out = out c
    at++
  }
  fail()
}
function value(path,   c, count, key, start) {
  space()
  c = substr(text, at, 1)
  if (c == "{" || c == "[") {
    at++
    count = 0
    space()
    if (substr(text, at, 1) == (c == "{" ? "}" : "]")) { at++; print path "/#\t0"; return }
    while (1) {
      space()
      if (c == "{") {
        key = string()
        space()
        if (substr(text, at, 1) != ":") fail()
        at++
      } else key = count
      value(path == "" ? key : path "/" key)
      count++
      space()
      if (substr(text, at, 1) == ",") { at++; continue }
      if (substr(text, at, 1) != (c == "{" ? "}" : "]")) fail()
      at++
      print path "/#\t" count
      return
    }
  }
  if (c == "\"") { print path "\t" string(); return }
  start = at
  while (at <= size && index(" \t\r\n,]}", substr(text, at, 1)) == 0) at++
  if (at == start) fail()
  print path "\t" substr(text, start, at - start)
}
{ text = text $0 "\n" }
END {
  if (failed) exit 3
  size = length(text)
  at = 1
  value("")
  space()
  if (at <= size) exit 3
}

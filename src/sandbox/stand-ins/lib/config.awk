# Reads what compose.awk found in a compose file and prints it as `docker compose config --format json` does, as far as the
# stand-in knows it: images and volumes of services, and files of configs and secrets. DIRECTORY is the project's.
function quoted(t) { gsub(/\\/, "\\\\", t); gsub(/"/, "\\\"", t); return "\"" t "\"" }
function absolute(t) {
  if (t ~ /^\//) return t
  while (sub(/^\.\//, "", t)) {}
  sub(/\/+$/, "", t)
  return t == "" || t == "." ? ENVIRON["DIRECTORY"] : ENVIRON["DIRECTORY"] "/" t
}
# Some awks have no width from an argument.
function line(depth, t) { while (depth-- > 0) printf "  "; print t }
function mount(type, source, target) {
  if (type == "bind") source = absolute(source)
  line(4, "{"); line(5, "\"type\": " quoted(type) ","); line(5, "\"source\": " quoted(source) ",")
  line(5, "\"target\": " quoted(target)); line(4, "},")
}
function files(section,   i, parts) {
  line(1, quoted(section) ": {")
  for (i = 1; i <= count; i++) if (split(order[i], parts, "/") == 3 && parts[1] == section && parts[3] == "file") {
    line(2, quoted(parts[2]) ": {"); line(3, "\"file\": " quoted(absolute(value[order[i]]))); line(2, "},")
  }
  line(1, "},")
}
{
  at = index($0, "\t")
  path = substr($0, 1, at - 1)
  value[path] = substr($0, at + 1)
  order[++count] = path
  split(path, parts, "/")
  if (parts[1] != "services" || parts[2] == "" || parts[2] ~ /^[#:]/) next
  if (!(parts[2] in known)) { known[parts[2]] = 1; services[++most] = parts[2] }
  if (parts[3] == "profiles") held[parts[2]] = 1
}
END {
  line(0, "{"); line(1, "\"services\": {")
  for (i = 1; i <= most; i++) {
    at = "services/" services[i] "/"
    if (services[i] in held) continue
    line(2, quoted(services[i]) ": {")
    if (value[at "image"] != "") line(3, "\"image\": " quoted(value[at "image"]) ",")
    line(3, "\"volumes\": [")
    for (n = 0; (at "volumes/" n) in value || (at "volumes/" n "/target") in value; n++) {
      if ((at "volumes/" n) in value) {
        if (split(value[at "volumes/" n], parts, ":") > 1) mount(parts[1] ~ /^[.\/~]/ ? "bind" : "volume", parts[1], parts[2])
      } else mount(value[at "volumes/" n "/type"], value[at "volumes/" n "/source"], value[at "volumes/" n "/target"])
    }
    line(3, "]"); line(2, "},")
  }
  line(1, "},"); files("configs"); files("secrets"); line(0, "}")
}

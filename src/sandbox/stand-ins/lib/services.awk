# Reads what compose.awk found in a compose file and prints a line for each service that no profile holds back. Its
# fields, with the unit separator between them: name, image, container name, restart policy, verdict of the health
# check ("image" where the image decides), exit code of a command that ends by itself, command, ports as shown, ports
# taken on the host, env files, and everything that was said of the service.
function list(service, key,   i, out) {
  if ((service, key) in value) return value[service, key]
  out = ""
  for (i = 0; (service, key "/" i) in value; i++) out = out (i > 0 ? " " : "") value[service, key "/" i]
  return out
}
# The value of a list's item, in its short form or by the names of its long one.
function port(service, text, target, host, protocol,   parts, n) {
  if (text != "") {
    n = split(text, parts, ":")
    target = parts[n]
    host = n > 1 ? parts[n - 1] : ""
    protocol = "tcp"
    if (target ~ /\//) { protocol = target; sub(/.*\//, "", protocol); sub(/\/.*/, "", target) }
  }
  if (host == "") return
  shown = shown (shown == "" ? "" : ", ") "0.0.0.0:" host "->" target "/" protocol ", [::]:" host "->" target "/" protocol
  taken = taken (taken == "" ? "" : " ") host "/" protocol
}
# Health checks are not run: they pass unless they declare a failure.
function verdict(service,   check) {
  if (!(service in checked)) return "image"
  if (value[service, "healthcheck/disable"] == "true") return ""
  check = list(service, "healthcheck/test")
  if (check == "" || check ~ /^NONE/) return ""
  if (check ~ /\|\| *exit/) return "healthy"
  return check ~ /false$|exit [1-9]/ ? "unhealthy" : "healthy"
}
function ending(words) {
  if (words ~ /^(\/bin\/)?true$/) return "0"
  if (words ~ /^(\/bin\/)?false$/) return "1"
  if (match(words, /exit [0-9]+/)) return substr(words, RSTART + 5, RLENGTH - 5)
  return ""
}
{
  at = index($0, "\t")
  path = substr($0, 1, at - 1)
  text = substr($0, at + 1)
  if (path !~ /^services\/[^#:]/) next
  path = substr(path, 10)
  cut = index(path, "/")
  service = cut > 0 ? substr(path, 1, cut - 1) : path
  key = cut > 0 ? substr(path, cut + 1) : ""
  if (!(service in known)) { known[service] = 1; order[++count] = service }
  if (key == ":" || key == "") next
  value[service, key] = text
  whole[service] = whole[service] key "=" text "\036"
  if (key ~ /^profiles/) held[service] = 1
  if (key ~ /^healthcheck\//) checked[service] = 1
  if (key ~ /^build/) built[service] = 1
}
END {
  for (i = 1; i <= count; i++) {
    service = order[i]
    if (service in held) continue
    shown = taken = ""
    for (n = 0; (service, "ports/" n) in value || (service, "ports/" n "/target") in value; n++) {
      port(service, value[service, "ports/" n], value[service, "ports/" n "/target"], value[service, "ports/" n "/published"], (service, "ports/" n "/protocol") in value ? value[service, "ports/" n "/protocol"] : "tcp")
    }
    files = list(service, "env_file")
    for (n = 0; (service, "env_file/" n "/path") in value; n++) {
      if (value[service, "env_file/" n "/required"] != "false") files = files " " value[service, "env_file/" n "/path"]
    }
    words = list(service, "entrypoint")
    words = words (words == "" ? "" : " ") list(service, "command")
    image = value[service, "image"]
    if (image == "" && service in built) image = "?"
    restart = value[service, "restart"] == "" ? "no" : value[service, "restart"]
    line = service "\037" image "\037" value[service, "container_name"] "\037" restart "\037" verdict(service)
    print line "\037" ending(words) "\037" words "\037" shown "\037" taken "\037" files "\037" whole[service]
  }
}

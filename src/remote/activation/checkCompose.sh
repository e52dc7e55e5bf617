#!/bin/sh
# checkCompose.sh: functions for activate.sh that come over its stdin, as a command has to fit into one packet. They have
# the server's Compose render the files of the deploy, uploaded ones before those in use, and compare the services, their
# images and the files that they need with those of the plan (check_expected). What was rendered has the values of
# variables: it stays in .berth/check, which nobody else can read, and ends there.
# Prints a `differs` line for each difference:
# added SERVICE, missing SERVICE, image SERVICE IMAGE-THERE IMAGE-OF-PLAN, mount SERVICE PATH, file PATH, unused PATH.
# shellcheck disable=SC2154 # Variables of activate.sh.
check_about() { sed -n "s/^$1$tab//p" .berth/expected; }
# Compose 2 writes JSON, one value a line and two spaces a level; docker-compose 1.x writes YAML as Python does.
# Exits with 1 if there is a difference, with 2 if no service could be read.
check_compare() {
  awk -v root="$1" -v kind="$compose_kind" -v tab="$tab" '
    function differs(text) { print "differs" tab text; differences++ }
    function inside(path) {
      if (path == root) return "."
      return index(path, root "/") == 1 ? substr(path, length(root) + 2) : ""
    }
    function mounted(path) {
      path = inside(path)
      if (path == "") return
      seen[path] = 1
      if (!((name, path) in mount)) differs("mount" tab name tab path)
    }
    function filed(path) {
      path = inside(path)
      if (path == "") return
      seen[path] = 1
      if (!(path in file)) differs("file" tab path)
    }
    function begin(service) { name = service; found[service] = 1; any = 1 }
    function plain(text) { gsub(/\$\$/, "$", text); return text }
    function json(text) {
      if (text !~ /^"/) return ""
      text = substr(text, 2, length(text) - 2)
      gsub(/\\u003c/, "<", text); gsub(/\\u003e/, ">", text); gsub(/\\u0026/, "\\&", text)
      gsub(/\\"/, "\"", text); gsub(/\\\\/, "\\", text)
      return plain(text)
    }
    function yaml(text) {
      if (text ~ /^"/) { text = substr(text, 2, length(text) - 2); gsub(/\\"/, "\"", text); gsub(/\\\\/, "\\", text) }
      else if (substr(text, 1, 1) == quote) { text = substr(text, 2, length(text) - 2); gsub(quote quote, quote, text) }
      return plain(text)
    }
    function end_item() {
      if (has_item && field == "volumes") {
        if (!is_map) { item = yaml(item); sub(/:.*/, "", item); mounted(item) }
        else if (type == "bind") mounted(source)
      }
      has_item = 0
    }
    function of_map(text, at) {
      at = index(text, ":")
      if (at == 0) return
      if (substr(text, 1, at - 1) == "type") type = yaml(substr(text, at + 2))
      if (substr(text, 1, at - 1) == "source") source = yaml(substr(text, at + 2))
    }
    BEGIN { quote = sprintf("%c", 39) }
    FILENAME == ARGV[1] {
      split($0, told, tab)
      if (told[1] == "service" && (told[2] == "runs" || kind == "v1")) wanted[told[3]] = 1
      if (told[1] == "image") image[told[2]] = told[3]
      if (told[1] == "mount") { mount[told[2], told[3]] = 1; file[told[3]] = 1 }
      if (told[1] == "file") file[told[2]] = 1
      if (told[1] == "needed" && (told[2] == "runs" || kind == "v1")) needed[told[3]] = 1
      next
    }
    { match($0, /^ */); depth = RLENGTH; line = substr($0, RLENGTH + 1) }
    kind != "v1" {
      depth = depth / 2
      sub(/,$/, "", line)
      key = ""
      if (match(line, /^"([^"\\]|\\.)*": /)) { key = json(substr(line, 1, RLENGTH - 2)); line = substr(line, RLENGTH + 1) }
      if (depth == 1) section = key
      else if (section == "services") {
        if (depth == 2 && key != "") begin(key)
        if (depth == 3) field = key
        if (depth == 3 && key == "image") there[name] = json(line)
        if (field != "volumes") next
        if (depth == 4 && line == "{") type = source = ""
        if (depth == 5 && key == "type") type = json(line)
        if (depth == 5 && key == "source") source = json(line)
        if (depth == 4 && line == "}" && type == "bind") mounted(source)
      } else if ((section == "configs" || section == "secrets") && depth == 3 && key == "file") filed(json(line))
      next
    }
    line == "" { next }
    depth == 0 { end_item(); section = line; sub(/:.*/, "", section); next }
    section == "services" {
      if (depth == 2) { end_item(); sub(/:( .*)?$/, "", line); begin(yaml(line)) }
      else if (depth == 4 && line ~ /^- /) {
        end_item()
        item = substr(line, 3)
        has_item = 1
        is_map = item ~ /^[a-z_]+:( |$)/
        type = source = ""
        if (is_map) of_map(item)
      } else if (depth == 4) {
        end_item()
        field = line
        sub(/:.*/, "", field)
        if (field == "image") there[name] = yaml(substr(line, 8))
      } else if (has_item && is_map && depth == 6) of_map(line)
      else if (has_item && !is_map) item = item " " line
      next
    }
    (section == "configs" || section == "secrets") && depth == 4 && line ~ /^file: / { filed(yaml(substr(line, 7))) }
    END {
      end_item()
      if (!any) exit 2
      for (service in found) {
        if (!(service in wanted)) differs("added" tab service)
        else if (there[service] != "" && service in image && there[service] != image[service])
          differs("image" tab service tab there[service] tab image[service])
      }
      for (service in wanted) if (!(service in found)) differs("missing" tab service)
      for (path in needed) if (!(path in seen)) differs("unused" tab path)
      exit (differences > 0)
    }' .berth/expected .berth/rendered
}
# Renders in a directory of its own, since the files of the deploy are not in place yet. Nothing is rendered again where
# Compose and all that it reads are as they were when they were the same.
check_render() {
  umask 077
  check_home=$(pwd -P)
  check_place=$check_home/.berth/check
  rm -rf "$check_place"
  mkdir -p "$check_place/.berth" && printf '%s\n' "$check_expected" >"$check_place/.berth/expected" || return 1
  printf '%s\n' "$manifest" | sed -n -e "/^compose$tab/p" -e "/^profile$tab/p" -e "/^variables$tab/p" >"$check_place/.berth/stack" || return 1
  sed -n "s/^read$tab//p" "$check_place/.berth/expected" | while IFS= read -r check_name; do
    if [ -f "$staged/$check_name" ]; then check_from=$staged/$check_name
    elif [ -f "./$check_name" ] && ! grep -qxF -e "$check_name" .berth/gone; then check_from=./$check_name
    else continue
    fi
    mkdir -p "$(dirname "$check_place/$check_name")" && cp "$check_from" "$check_place/$check_name" || exit 1
  done || return 1
  cd "$check_place" || return 1
  check_is=$({ printf '%s %s\n' "$compose_kind" "$compose_version"; find . -type f -exec sha256sum {} + | sort; } | sha256sum) || return 1
  [ "$check_is" != "$(cat ../compared 2>/dev/null)" ] || return 0
  set -- --format json
  if [ "$compose_kind" = v1 ]; then
    set --
    # It refuses a service whose build directory is missing.
    check_about context | while IFS= read -r check_name; do mkdir -p "./$check_name" || exit 1; done || return 1
  fi
  if ! compose_stack "" config "$@" </dev/null >.berth/rendered 2>.berth/words; then
    awk -v root="$check_place/" '{ while ((at = index($0, root)) > 0) $0 = substr($0, 1, at - 1) substr($0, at + length(root)); print }' .berth/words
    return 1
  fi
  check_compare "$check_place"
  case $? in
    0) printf '%s\n' "$check_is" >../compared ;;
    2) echo unread; return 1 ;;
    *) return 1 ;;
  esac
}
# Starts the comparison beside the load. Its output stays if there is a difference.
check_begin() {
  : >.berth/differences || return 1
  ( (check_render) >.berth/differences 2>&1 && rm -f .berth/differences; rm -rf .berth/check) 5>&- </dev/null &
}
# Ends the deploy, before anything is replaced, if there is a difference.
check_end() {
  [ -e .berth/differences ] || return 0
  said=$(cat .berth/differences)
  rm -f .berth/differences
  if [ "$said" = unread ]; then
    # shellcheck disable=SC2034 # start.sh reports it.
    check_warning="Compose on the server renders the files in a form that cannot be compared with the plan"
    # Its services are not known for sure, so that no container is taken for one of a service that is gone.
    rm -f .berth/orphans
    return 0
  fi
  refuse_start
}

# shellcheck shell=sh disable=SC2016,SC2086 # Programs for awk, and lists of services.
# The "compose" part of the docker stand-in. bin/docker sources it and provides its functions.

# next_service: the next line of services.awk, in variables.
next_service() { IFS=$separator read -r service asked name restart verdict ends words shown taken env_files signature; }

compose() {
  file=
  project=
  dotenv=
  directory=$PWD
  while [ "$#" -gt 0 ]; do
    case $1 in
      -f | --file) [ -z "$file" ] || unclear compose "$@"; file=$2; shift ;;
      --file=*) file=${1#*=} ;;
      -p | --project-name) project=$2; shift ;;
      --project-name=*) project=${1#*=} ;;
      --project-directory) directory=$2; shift ;;
      --env-file) dotenv=$2; shift ;;
      --env-file=*) dotenv=${1#*=} ;;
      --progress | --ansi) shift ;;
      --progress=* | --ansi=*) ;;
      -*) unclear compose "$@" ;;
      *) break ;;
    esac
    shift
  done
  action=${1:-}
  [ "$#" -eq 0 ] || shift
  case $action in
    version)
      case ${1:-} in
        --short) echo "$compose_version" ;;
        "") echo "Docker Compose version v$compose_version (stand-in for Berth's sandbox)" ;;
        *) unclear compose version "$@" ;;
      esac
      return 0 ;;
    build) refuse "docker stand-in: it does not build images: load them" ;;
    up | down | stop | start | restart | ps | logs | config | rm | pull) ;;
    *) unclear compose "$action" "$@" ;;
  esac
  read_project
  only=
  case $action in
    pull) pull_images ;;
    *) "compose_$action" "$@" ;;
  esac
}

read_project() {
  if [ -z "$file" ]; then
    for name in compose.yaml compose.yml docker-compose.yaml docker-compose.yml; do
      if [ -f "$name" ]; then file=$name; break; fi
    done
    [ -n "$file" ] || refuse "no configuration file provided: not found" 14
  fi
  [ -f "$file" ] || refuse "open $file: no such file or directory" 14
  case $file in
    */*) directory=$(cd "${file%/*}/" && pwd) ;;
    *) directory=$(pwd) ;;
  esac
  [ -n "$dotenv" ] || { [ ! -f "$directory/.env" ] || dotenv=$directory/.env; }
  new_work
  DOTENV=$dotenv awk -f "$lib/compose.awk" "$file" >"$work/compose"
  code=$?
  case $code in 0) ;; 4) exit 125 ;; *) exit 15 ;; esac
  [ -n "$project" ] || project=${COMPOSE_PROJECT_NAME:-}
  [ -n "$project" ] || project=$(value "$work/compose" name) || project=$(basename "$directory")
  case $project in
    [!a-z0-9]* | *[!a-z0-9_-]*)
      project=$(printf '%s' "$project" | tr '[:upper:]' '[:lower:]' | tr -cd 'a-z0-9_-' | sed 's/^[_-]*//') ;;
  esac
  [ -n "$project" ] || refuse "project name must not be empty"
  awk -f "$lib/services.awk" "$work/compose" >"$work/services"
  [ -s "$work/services" ] || refuse "no service selected"
  while next_service; do
    [ -n "$asked" ] || refuse "service \"$service\" has neither an image nor a build context specified: invalid compose project" 15
    for wanted in $env_files; do
      [ -e "$directory/$wanted" ] || [ -e "$wanted" ] ||
        refuse "env file $directory/$wanted not found: stat $directory/$wanted: no such file or directory" 14
    done
  done <"$work/services"
}

# project_ids [SERVICE…]: prints the containers of the project, optionally only those of the given services.
project_ids() { project=$project only="$*" containers '$3 == ENVIRON["project"] && (ENVIRON["only"] == "" || index(" " ENVIRON["only"] " ", " " $4 " ") > 0) { print $1 }'; }
progress() { printf ' %s %s  %s\n' "$1" "$2" "$3" >&2; }
# is_wanted SERVICE: true if $only selects it.
is_wanted() { case " $only " in "  " | *" $1 "*) return 0 ;; esac; return 1; }

pull_images() {
  while next_service; do
    is_wanted "$service" || continue
    [ "$asked" != "?" ] || refuse "docker stand-in: it does not build images: give service \"$service\" an image, and load it"
    find_image "$asked" ||
      daemon "pull access denied for ${asked%:*}, repository does not exist or may require 'docker login': denied: requested access to the resource is denied (the stand-in pulls nothing: load the image)"
  done <"$work/services"
}

# create: creates a container for the service that next_service read; sets $id.
create() {
  find_container "$name" &&
    daemon "Conflict. The container name \"/$name\" is already in use by container \"$id\". You have to remove (or rename) that container to be able to reuse that name."
  id=$(new_id)
  if [ "$verdict" = image ]; then
    verdict=
    [ ! -e "$state/images/$image/healthcheck" ] || verdict=healthy
  fi
  clock
  change "$id" id "$id" name "$name" image "sha256:$image" asked "$asked" project "$project" service "$service" \
    directory "$directory" signature "$signature$image" created "$now" createdAt "$timestamp" status created code 0 \
    health "$verdict" restart "$restart" ports "$shown" hostports "$taken" command "$words" ends "$ends"
}

compose_up() {
  detached=no
  force=no
  only=
  while [ "$#" -gt 0 ]; do
    case $1 in
      -d | --detach) detached=yes ;;
      --force-recreate) force=yes ;;
      --remove-orphans | --no-build | --no-recreate | --no-color | --quiet-pull | --no-deps | --wait | -y) ;;
      --pull) shift ;;
      --pull=*) ;;
      -*) unclear compose up "$@" ;;
      *) only="$only $1" ;;
    esac
    shift
  done
  [ "$detached" = yes ] || refuse "docker stand-in: it starts stacks in the background only: use up -d" 125
  pull_images
  while next_service; do
    is_wanted "$service" || continue
    find_image "$asked"
    [ -n "$name" ] || name=$project-$service-1
    id=$(project_ids "$service")
    if [ -n "$id" ]; then
      if [ "$force" = no ] && [ "$(value "$state/containers/$id" signature)" = "$signature$image" ]; then
        case $(value "$state/containers/$id" status) in
          running | restarting) progress Container "$name" Running; continue ;;
        esac
      else
        progress Container "$name" Recreate
        remove_container "$id"
        id=
      fi
    fi
    if [ -z "$id" ]; then
      create
      progress Container "$name" Created
    fi
    progress Container "$name" Starting
    start_container "$id" || exit 1
    progress Container "$name" Started
  done <"$work/services"
}
compose_down() {
  for id in $(project_ids); do
    name=$(value "$state/containers/$id" name)
    remove_container "$id"
    progress Container "$name" Removed
  done
}
compose_rm() { compose_down; }
compose_stop() {
  for id in $(project_ids); do
    stop_container "$id"
    progress Container "$(value "$state/containers/$id" name)" Stopped
  done
}
compose_start() {
  for id in $(project_ids); do
    start_container "$id" || exit 1
    progress Container "$(value "$state/containers/$id" name)" Started
  done
}
compose_restart() { compose_stop; compose_start; }
compose_ps() {
  everything=no
  quiet=no
  format=
  only=
  while [ "$#" -gt 0 ]; do
    case $1 in
      -a | --all) everything=yes ;;
      -q | --quiet) quiet=yes ;;
      -aq | -qa) everything=yes quiet=yes ;;
      --services) for id in $(project_ids); do value "$state/containers/$id" service; done; return 0 ;;
      --format) format=$2; shift ;;
      --format=*) format=${1#*=} ;;
      --no-trunc) ;;
      -*) unclear compose ps "$@" ;;
      *) only="$only $1" ;;
    esac
    shift
  done
  [ "$format" != json ] || format='{{json .}}'
  [ -n "$format" ] || [ "$quiet" = yes ] || printf 'NAME\tIMAGE\tSERVICE\tSTATUS\tPORTS\n'
  for id in $(project_ids $only); do
    case $everything:$(value "$state/containers/$id" status) in yes:* | no:running | no:restarting) ;; *) continue ;; esac
    if [ "$quiet" = yes ]; then printf '%s\n' "$id"
    elif [ -n "$format" ]; then describe ps "$id" | fill "$format" || exit 125
    else describe ps "$id" | fill '{{.Name}}\t{{.Image}}\t{{.Service}}\t{{.Status}}\t{{.Ports}}' || exit 125
    fi
  done
}
compose_logs() {
  tail=all
  stamps=no
  prefixed=yes
  only=
  while [ "$#" -gt 0 ]; do
    case $1 in
      -n | --tail) tail=$2; shift ;;
      --tail=*) tail=${1#*=} ;;
      -t | --timestamps) stamps=yes ;;
      --no-log-prefix) prefixed=no ;;
      --no-color) ;;
      -*) unclear compose logs "$@" ;;
      *) only="$only $1" ;;
    esac
    shift
  done
  case $tail in all) ;; "" | *[!0-9]*) refuse "invalid value for \"tail\": $tail" ;; esac
  for wanted in $only; do
    compose_config --services | grep -qxF -e "$wanted" || refuse "no such service: $wanted"
  done
  for id in $(project_ids $only); do
    service=$(value "$state/containers/$id" service)
    shown=$(value "$state/containers/$id" name)
    shown=${shown#"$project-"}
    prefix=
    [ "$prefixed" = no ] || prefix="$shown  | "
    show_log "$id" "$tail" "$stamps" "$prefix"
  done
}
compose_config() {
  case ${1:-} in
    --services) while next_service; do printf '%s\n' "$service"; done <"$work/services" ;;
    --images) while next_service; do printf '%s\n' "$asked"; done <"$work/services" ;;
    -q | --quiet) ;;
    "") cat "$file" ;;
    --format) [ "${2:-}" = json ] || unclear compose config "$@"; DIRECTORY=$directory awk -f "$lib/config.awk" "$work/compose" ;;
    *) unclear compose config "$@" ;;
  esac
}

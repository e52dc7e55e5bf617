# shellcheck shell=sh
# Lists that a removal of the stack in this directory and its plan share. Names that others chose come last in a line, and
# a line break in one is printed as the byte 1.
most_listed=500
# at_most KIND: passes so many lines on, and prints a `more` line with the number of the others.
at_most() { awk -v kind="$1" -v most="$most_listed" 'NR <= most { print } END { if (NR > most) print "more\t" kind "\t" NR - most }'; }
notes() { cat .berth/releases/[0-9]*/note 2>/dev/null; }
brought_files() {
  notes | sed -n -e "s/^compose$tab//p" -e "s/^env$tab//p" -e "s/^file$tab//p" -e "s/^large$tab//p"
  [ -z "$berths" ] || { printf '%s\n' "$file"; cat .berth/deployed .berth/archive 2>/dev/null; }
}
# brought_there: prints the files and links that Berth brought here and that exist.
brought_there() {
  brought_files | LC_ALL=C sort -u | while IFS= read -r name; do
    case $name in "" | /* | data | data/* | .. | ../* | */../* | */.. | .berth | .berth/*) continue ;; esac
    if [ -f "./$name" ] || [ -L "./$name" ]; then printf '%s\n' "$name"; fi
  done
}
line_break='
'
break_byte=$(printf '\001')
# entries_in DIRECTORY: prints kind and name of each entry. The walk of a directory ends early.
entries_in() {
  {
    find "./$1" -mindepth 1 -maxdepth 1 ! -name "*$line_break*" -print 2>/dev/null | head -n 2000
    # shellcheck disable=SC2016 # The other shell expands it.
    find "./$1" -mindepth 1 -maxdepth 1 -name "*$line_break*" -exec sh -c '
      for path do printf "%s" "$path" | tr "\n" "\001"; echo; done' sh {} + 2>/dev/null | head -n 100
  } | LC_ALL=C sort | while IFS= read -r path; do
    entry=./$1/${path##*/}
    case $entry in *"$break_byte"*) entry=$(printf '%s' "$entry" | tr '\001' '\n') ;; esac
    if [ -L "$entry" ]; then set -- "$1" link; elif [ -d "$entry" ]; then set -- "$1" directory; else set -- "$1" file; fi
    printf '%s\t%s\n' "$2" "${path##*/}"
  done
}
# directory_stays FILES: prints a `stays` line with kind, reason and name for each entry of the directory that is neither
# one of the files, which Berth brought, nor holds one. The reason is data, root (the owner) or foreign.
directory_stays() {
  going=$line_break$1$line_break
  holding=$(printf '%s\n' "$1" | awk -F / '
    {
      at = ""
      for (part = 1; part < NF; part++) {
        at = at (part > 1 ? "/" : "") $part
        if (!(at in seen)) print at
        seen[at] = 1
      }
    }')
  { echo; [ -z "$holding" ] || printf '%s\n' "$holding" | head -n 200; } | while IFS= read -r over; do
    if [ -n "$over" ] && { [ -L "./$over" ] || [ ! -d "./$over" ]; }; then continue; fi
    roots=$line_break
    [ "$(id -u)" = 0 ] || roots=$line_break$(find "./$over" -mindepth 1 -maxdepth 1 -user 0 ! -name "*$line_break*" -print 2>/dev/null | head -n 2000 | sed 's,.*/,,')$line_break
    entries_in "$over" | while IFS=$tab read -r kind entry; do
      name=${over:+$over/}$entry
      case $name in .berth) continue ;; esac
      case $going in *"$line_break$name$line_break"*) continue ;; esac
      # One that holds such files is walked by itself, but not behind a link.
      if [ "$kind" = directory ]; then
        case $line_break$holding$line_break in *"$line_break$name$line_break"*) continue ;; esac
      fi
      because=foreign
      case $roots in *"$line_break$entry$line_break"*) because=root ;; esac
      [ "$name" != data ] || because=data
      printf 'stays\t%s\t%s\t\t%s\n' "$kind" "$because" "$name"
    done
  done | at_most stays
}
# find_images LINES: finds in lines of list_images the names by which this directory holds images ($held), the images that
# only its releases need ($left), and with those that are held the ones that may go ($candidates).
find_images() {
  release_prefix=$(prefix_here)
  left=$(unused_images " $(numbers | tr '\n' ' ') ")
  held_lines=$(printf '%s\n' "$1" | awk -v release="$release_prefix" -v kept="$(kept_prefix)" '
    index($2, release) == 1 || index($2, kept) == 1')
  held=$(printf '%s\n' "$held_lines" | cut -d ' ' -f 2)
  candidates=$({ printf '%s\n' "$left"; printf '%s\n' "$held_lines" | cut -d ' ' -f 1; } | awk 'NF && !($1 in seen) { print } NF { seen[$1] = 1 }')
}
# image_fates: prints by $images_there a `goes` line for each candidate that goes with its containers, and a `stays` line
# for each other one and for the images that the releases have used and Berth did not bring.
image_fates() {
  printf '%s\n' "$candidates" | while IFS= read -r line; do
    [ -n "$line" ] || continue
    # shellcheck disable=SC2086 # An id and names without spaces.
    image_fate $line
    # shellcheck disable=SC2086
    set -- $line
    case $fate in
      goes) printf 'goes\timage\t%s\n' "${2:-$1}" ;;
      named | used) printf 'stays\timage\t%s\t%s\t%s\n' "$fate" "$fate_by" "${2:-$1}" ;;
    esac
  done
  notes | awk -F '\t' -v known=" $(printf '%s\n' "$candidates" | cut -d ' ' -f 1 | tr '\n' ' ') " '
    $1 == "image" && $4 == "found" && index(known, " " $2 " ") == 0 && !($2 in seen) { seen[$2] = 1; print $2 "\t" $3 }' |
    while IFS=$tab read -r id name; do
      printf '%s\n' "$images_there" | grep -q "^$id " && printf 'stays\timage\tforeign\t\t%s\n' "${name:-$id}"
    done
  return 0
}
# The plan's variant of stack_variables, which writes into the directory.
plan_variables() {
  # shellcheck disable=SC2317 # compose_stack calls it.
  stack_variables() {
    if [ "$#" -eq 1 ]; then printf '%s\n' "$1"; return; fi
    for name do cat "./$name" && echo || return 1; done >"$plan_temporary" && printf '%s\n' "$plan_temporary"
  }
  plan_temporary=$(mktemp) || return 1
  trap 'rm -f "$plan_temporary"' EXIT
}
# anonymous_volumes CONTAINERS: prints `goes` or `stays` and the name of each volume that has none but Docker's own and is
# mounted by these. Docker removes none that a container's settings name, as compose writes there one that it takes over.
anonymous_volumes() {
  [ -n "$1" ] || return 0
  # shellcheck disable=SC2086 # A list of ids.
  as_root docker inspect --format '{{range .Mounts}}{{if eq .Type "volume"}}mount {{.Name}}{{println}}{{end}}{{end}}{{range .HostConfig.Binds}}source {{.}}{{println}}{{end}}{{range .HostConfig.Mounts}}source {{.Source}}{{println}}{{end}}' $1 </dev/null 2>/dev/null |
    awk '
      $1 == "source" { sub(/:.*/, "", $2); named[$2] = 1 }
      $1 == "mount" && length($2) == 64 && $2 !~ /[^0-9a-f]/ { seen[$2] = 1 }
      END { for (name in seen) print (name in named ? "stays" : "goes") "\t" name }' | LC_ALL=C sort -k 2
}
# volume_fate NAME: prints its `goes` line, or a `stays` line if a container beside those of the stack uses it.
volume_fate() {
  user=$(as_root docker ps -a --no-trunc --filter "volume=$1" --format '{{.ID}} {{.Names}}' </dev/null |
    awk -v without=" $fate_without " 'index(without, " " $1 " ") == 0 { print $2; exit }')
  if [ -n "$user" ]; then printf 'stays\tvolume\tused\t%s\t%s\n' "$user" "$1"
  else printf 'goes\tvolume\t%s\n' "$1"
  fi
}
# volume_fates: prints a `goes` or `stays` line for each volume that compose or Docker made for this stack.
volume_fates() {
  projects=$({ stack_ps '{{.Label "com.docker.compose.project"}}' -a; sed -n "s/^project$tab//p" .berth/stack 2>/dev/null; } | grep . | LC_ALL=C sort -u)
  [ -n "$projects" ] || projects=$(stack_names)
  made=$(printf '%s\n' "$projects" | while IFS= read -r project; do
    as_root docker volume ls --filter "label=com.docker.compose.project=$project" --format "{{.Label \"com.docker.compose.volume\"}}$tab{{.Name}}" </dev/null
  done | LC_ALL=C sort -u)
  because=unasked
  if [ -n "$foreign" ]; then because=shared
  elif [ "$volumes" = yes ]; then
    because=unnamed
    named=
    if [ -n "$file" ] && [ -n "$made" ]; then
      find_compose
      # All of them count as named if compose cannot tell.
      named=$(plan_variables && compose_stack "$file" config --volumes 2>/dev/null </dev/null) || named=$(printf '%s\n' "$made" | cut -f 1)
    fi
  fi
  printf '%s\n' "$made" | while IFS=$tab read -r key name; do
    if [ -z "$name" ]; then :
    elif [ "$because" != unnamed ]; then printf 'stays\tvolume\t%s\t\t%s\n' "$because" "$name"
    elif ! printf '%s\n' "$named" | grep -qxF -e "$key"; then printf 'stays\tvolume\tunnamed\t\t%s\n' "$name"
    else volume_fate "$name"
    fi
  done
  because=unnamed
  [ "$volumes" = yes ] || because=unasked
  anonymous_volumes "$fate_without" | while IFS=$tab read -r fate name; do
    if printf '%s\n' "$made" | cut -f 2 | grep -qxF -e "$name"; then :
    elif [ "$because" = unasked ] || [ "$fate" = stays ] || [ -z "$by_down" ]; then printf 'stays\tvolume\t%s\t\t%s\n' "$because" "$name"
    else volume_fate "$name"
    fi
  done
}
# find_going: finds by $foreign and $file if compose takes the stack down ($by_down), all containers of the stack ($all),
# and the ids of those that a removal takes ($fate_without). compose takes one-off containers too.
find_going() {
  by_down=yes
  if [ -n "$foreign" ] || [ -z "$file" ]; then by_down=; fi
  all=$(stack_ps "{{.ID}} {{.Names}} {{.Label \"com.docker.compose.oneoff\"}}" -a) || return 1
  fate_without=$(printf '%s\n' "$all" | awk -v down="$by_down" 'NF && ($3 != "True" || down != "") { printf "%s ", $1 }')
}
# volume_ends FATES: prints for lines of volume_fates from before the removal a `volume` line for each volume that is gone,
# and a `stays` line for each other one.
volume_ends() {
  printf '%s\n' "$1" | grep '^stays'
  planned=$(printf '%s\n' "$1" | sed -n "s/^goes${tab}volume$tab//p")
  [ -n "$planned" ] || return 0
  # Unknown, the removal has ended well and they count as gone.
  volumes_there=$(as_root docker volume ls -q </dev/null) || volumes_there=
  printf '%s\n' "$planned" | while IFS= read -r name; do
    if printf '%s\n' "$volumes_there" | grep -qxF -e "$name"; then printf 'stays\tvolume\tkept\t\t%s\n' "$name"
    else printf 'volume\t%s\n' "$name"
    fi
  done
}
# plan_removal: prints a `release` line with number and time, a `backup` line with number, time, bytes and items, a `goes`
# line with kind and name, a `stays` line with kind, reason, what it is for, and name, and `more` lines. Changes nothing.
plan_removal() {
  for number in $(numbers); do
    printf 'release\t%s\t%s\n' "$number" "$(sed -n "s/^at$tab//p" ".berth/releases/$number/note" | head -n 1 | cut -c 1-40)"
  done | at_most releases
  for manifest in .berth/backups/[0-9]*/manifest; do
    [ -f "$manifest" ] || continue
    number=${manifest%/manifest}
    case ${number##*/} in *[!0-9A-Za-z.-]*) continue ;; esac
    awk -F '\t' -v number="${number##*/}" '
      $1 == "at" { at = substr($2, 1, 40) }
      $1 == "data" { bytes += $4; items = items (items == "" ? "" : ",") $2 }
      END { printf "backup\t%s\t%s\t%.0f\t%s\n", number, at, bytes, substr(items, 1, 1000) }' "$manifest"
  done | sort -t "$tab" -k 2,2 -rn | at_most backups
  find_going || return 1
  printf '%s\n' "$all" | awk -v down="$by_down" '
    NF { print ($3 == "True" && down == "" ? "stays\tcontainer\toneoff\t\t" : "goes\tcontainer\t") $2 }' | LC_ALL=C sort | at_most containers
  brought=$(brought_there)
  printf '%s\n' "$brought" | while IFS= read -r name; do
    [ -n "$name" ] || continue
    case $name in */*) over=${name%/*} ;; *) over=. ;; esac
    if [ -w "./$over" ]; then printf 'goes\tfile\t%s\n' "$name"; else printf 'stays\tfile\tdenied\t\t%s\n' "$name"; fi
  done | at_most files
  images_there=$(list_images) || return 1
  find_images "$images_there"
  incoming=
  [ ! -s .berth/loading ] || incoming=$(incoming_prefix "$(cat .berth/loading)")
  # A removal begins with these names.
  images_there=$(printf '%s\n' "$images_there" | awk -v release="$release_prefix" -v kept="$(kept_prefix)" -v incoming="$incoming" '
    index($2, release) == 1 || index($2, kept) == 1 || (incoming != "" && index($2, incoming) == 1) { $2 = "<none>:<none>" }
    { print }')
  image_fates | at_most images
  volume_fates | at_most volumes
  directory_stays "$brought"
}

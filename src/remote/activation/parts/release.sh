# shellcheck shell=sh
# Keeps what runs now as a release: .berth/releases/<number>/note has its time, user, run, files and
# images, and files/ holds the files. .berth/current names the one that runs. An image that came with an archive has a
# name of Berth's for as long as a release needs it. A release that cannot be written fails nothing: the stack runs.
# The ids and names of the images of the stack and of the archive, as far as possible from what was done.
images_now() {
  # shellcheck disable=SC2086 # Lists of names and ids without spaces.
  case $store:$source:$subjects in
    *:none:* | *:names:* | *:incoming:* | docker:*:?*) set -- $subjects ;;
    *) name_ids $wanted; return ;;
  esac
  for id in $ids; do
    printf '%s %s\n' "$id" "$1"
    shift
  done
  kept_meaning=$(awk -v of_archive=" $subjects " 'index(of_archive, " " $2 " ") == 0' .berth/names)
  printf '%s\n' "$kept_meaning" | sed '/^$/d'
  # Others came with the start.
  told=" $subjects $(printf '%s\n' "$kept_meaning" | cut -d ' ' -f 2 | tr '\n' ' ') "
  set --
  for name in $wanted; do
    case $told in *" $name "*) ;; *) set -- "$@" "$name" ;; esac
  done
  name_ids "$@"
}
# An `image` line for each of them, and a `tag` line for each name that one needs: an image is brought when it was not
# there before, or when Berth has brought it before, to whatever directory.
describe_images() {
  berths=" $(awk -F '\t' '$1 == "image" && $4 == "brought" { printf "%s ", $2 }' .berth/releases/*/note 2>/dev/null)"
  if [ "$source" = names ]; then
    for id in $ids; do
      case $berths in *" $id "*) ;; *) list_images >.berth/present 2>/dev/null; break ;; esac
    done
  fi
  images_now | awk -v of_archive=" $subjects " -v berths="$berths" -v own="$release_prefix" '
    BEGIN {
      while ((getline line < ".berth/present") > 0) {
        if (line == "ok") listed = 1
        split(line, pair, " ")
        here[pair[1]] = 1
        meaning[pair[2]] = pair[1]
        if (pair[2] ~ /^berth\/release:/) ours[pair[1]] = 1
      }
      while ((getline line < ".berth/leaving") > 0) {
        split(line, pair, " ")
        ours[pair[1]] = 1
      }
    }
    {
      is_known = index(berths, " " $1 " ") > 0
      brought = index(of_archive, " " $2 " ") > 0 && (is_known || listed && ($1 in ours || !($1 in here)))
      print "image\t" $1 "\t" $2 "\t" (brought ? "brought" : "found")
      hex = $1
      sub(/^sha256:/, "", hex)
      name = own substr(hex, 1, 12)
      if (brought && (listed ? meaning[name] != $1 : !is_known)) print "tag\t" $1 "\t" name
    }'
}
# keep_files OPTIONS: copies the files that are named on stdin; fails where cp does not know --parents.
# shellcheck disable=SC2016 # The other shell expands it.
keep_files() { tr '\n' '\0' | xargs -0 -r sh -c 'cp "$0" --parents -- "$@" .berth/releases/.new/files' "$1"; }
copied() { for kind in compose env file; do about "$kind"; done; }
# Large files become links: they take no room, and nobody edits them in place.
record() {
  new=.berth/releases/.new
  rm -rf "$new"
  mkdir -p "$new/files" || return 1
  described=$(describe_images)
  printf '%s\n' "$described" | sed -n "s/^tag$tab//p" | while read -r id name; do
    as_root docker tag "$id" "$name" </dev/null >/dev/null
  done
  {
    printf 'at\t%s\nrun\t%s\n' "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$run"
    printf '%s\n' "$described" | grep "^image$tab"
    printf '%s\n' "$manifest"
  } | cat >"$new/note" || return 1
  if ! { copied | keep_files -p && about large | keep_files -pl; } 2>/dev/null; then
    rm -rf "$new/files"
    mkdir "$new/files" || return 1
    { copied; about large; } | sed 's,^,./,' | tar -cf - -T - | tar -xpf - -C "$new/files" || return 1
  fi
  [ "$(find "$new/files" -type f | wc -l)" -eq "$({ copied; about large; } | sort -u | wc -l)" ] ||
    { echo "not all of its files could be copied" >&2; return 1; }
  printf '%s\n' "$1" | cat >.berth/releases/last && printf '%s\n' "$1" | cat >.berth/current.new || return 1
  mv "$new" ".berth/releases/$1" && mv -f .berth/current.new .berth/current
}
next_number() { { numbers; cat .berth/releases/last; } 2>/dev/null | awk '$1 + 0 > last { last = $1 + 0 } END { print last + 1 }'; }
number_of() { about "$1" | grep -x '[0-9]*'; }
# Prints a `release` line with the number of what runs now, or an `unkept` line that says why it has none; and a `before`
# line with the number of what ran before.
release_now() {
  [ -n "$manifest" ] || return 0
  release_prefix=$(prefix_here)
  # The replaced version runs again: its release is current as before, and the deploy's is dropped.
  wanted_again=$(number_of again)
  if [ -n "$wanted_again" ]; then
    printf '%s\n' "$wanted_again" | cat >.berth/current.new && mv -f .berth/current.new .berth/current
    rm -f .berth/before
    return
  fi
  number=$(next_number)
  if unkept=$(record "$number" 2>&1); then printf 'release\t%s\n' "$number"
  else
    number=
    rm -rf .berth/releases/.new
    # The first of what went wrong on a full disk, which other complaints follow.
    full=$(printf '%s\n' "$unkept" | grep 'No space left' | head -n 1)
    printf 'unkept\t%s\n' "$(printf '%s\n' "${full:-$unkept}" | tail -n 1 | cut -c 1-500)"
  fi
  earlier=
  [ ! -f .berth/before ] || IFS= read -r earlier <.berth/before
  if [ -s .berth/running ] && [ -f ".berth/releases/${earlier:-none}/note" ]; then printf 'before\t%s\n' "$earlier"
  else earlier=
  fi
  # A later recovery can restore that one too.
  printf '%s\tstarted\t%s\t%s\n' "$run" "$number" "$earlier" | cat >.berth/outcome.new 2>/dev/null &&
    mv -f .berth/outcome.new .berth/outcome || rm -f .berth/outcome.new
  rm -f .berth/before .berth/present
}
printf 'step\trelease\n'
release_now
# Before the end is printed: its reader may close the connection, which would end docker.
let_go
keep=$(number_of keep)
[ -z "$manifest" ] || prune "${keep:-1000000}" "$(number_of forget)" 2>/dev/null
printf 'step\tend\n'

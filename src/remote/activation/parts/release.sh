# shellcheck shell=sh
# Records the running version as a release: .berth/releases/<number>/note has its time, user, run, files and images,
# and files/ holds the files. .berth/current names the running release. An image from an archive has a name of Berth's
# while a release needs it. A failure here does not fail the deploy, because the stack is running.
# Ids and names of the images of the stack and of the archive, derived from the activation as far as possible.
images_now() {
  # Some of them were built here.
  built=" $(about build | cut -f 2 | tr '\n' ' ') "
  # shellcheck disable=SC2086 # Lists of names and ids without spaces.
  case $store:$source:$subjects in
    *:none:* | *:names:* | *:incoming:* | docker:*:?*) set -- $subjects ;;
    *) name_ids $wanted; return ;;
  esac
  for id in $ids; do
    printf '%s %s\n' "$id" "$1"
    shift
  done
  kept_meaning=$(awk -v others=" $subjects $built" 'index(others, " " $2 " ") == 0' .berth/names)
  printf '%s\n' "$kept_meaning" | sed '/^$/d'
  # Other images appeared with the start.
  told=" $subjects $(printf '%s\n' "$kept_meaning" | cut -d ' ' -f 2 | tr '\n' ' ') "
  set --
  for name in $wanted; do
    case $told in *" $name "*) ;; *) set -- "$@" "$name" ;; esac
  done
  name_ids "$@"
}
# Prints an `image` line for each image, and a `tag` line for each name that one needs. An image counts as brought if
# it did not exist before, or if Berth has brought it earlier, in any directory; one that was built here, if its name
# had another meaning before.
describe_images() {
  berths=" $(awk -F '\t' '$1 == "image" && $4 == "brought" { printf "%s ", $2 }' .berth/releases/*/note 2>/dev/null)"
  adopted=" $(awk -F '\t' '$1 == "image" && $4 == "kept" { printf "%s ", $2 }' .berth/releases/*/note 2>/dev/null)"
  if [ "$source" = names ]; then
    for id in $ids; do
      case $berths in *" $id "*) ;; *) list_images >.berth/present 2>/dev/null; break ;; esac
    done
  fi
  images_now | awk -v of_archive=" $subjects " -v berths="$berths" -v adopted="$adopted" -v own="$release_prefix" -v built=" $(about build | cut -f 2 | tr '\n' ' ')" '
    BEGIN {
      while ((getline line < ".berth/names") > 0) {
        split(line, pair, " ")
        before[pair[2]] = pair[1]
      }
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
      if (index(built, " " $2 " ") > 0 && index(adopted, " " $1 " ") == 0) brought = is_known || before[$2] != $1
      print "image\t" $1 "\t" $2 "\t" (brought ? "brought" : index(adopted, " " $1 " ") > 0 ? "kept" : "found")
      hex = $1
      sub(/^sha256:/, "", hex)
      name = own substr(hex, 1, 12)
      if (brought && (listed ? meaning[name] != $1 : !is_known)) print "tag\t" $1 "\t" name
    }'
}
record() {
  described=$(describe_images)
  printf '%s\n' "$described" | sed -n "s/^tag$tab//p" | while read -r id name; do
    as_root docker tag "$id" "$name" </dev/null >/dev/null
  done
  write_release "$1" "$described"
}
number_of() { about "$1" | grep -x '[0-9]*'; }
# Prints a `release` line with the number of the recorded release, or an `unkept` line with the reason why there is
# none, and a `before` line with the number of the previous release.
release_now() {
  [ -n "$manifest" ] || return 0
  release_prefix=$(prefix_here)
  # The previous version is running again: its release becomes the current one, and the deploy's release is dropped.
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
    # First error of a full disk, which causes the other errors.
    full=$(printf '%s\n' "$unkept" | grep 'No space left' | head -n 1)
    printf 'unkept\t%s\n' "$(printf '%s\n' "${full:-$unkept}" | tail -n 1 | cut -c 1-500)"
  fi
  earlier=
  [ ! -f .berth/before ] || IFS= read -r earlier <.berth/before
  if [ -s .berth/running ] && [ -f ".berth/releases/${earlier:-none}/note" ]; then printf 'before\t%s\n' "$earlier"
  else earlier=
  fi
  # A later recovery can also restore that release.
  printf '%s\tstarted\t%s\t%s\n' "$run" "$number" "$earlier" | cat >.berth/outcome.new 2>/dev/null &&
    mv -f .berth/outcome.new .berth/outcome || rm -f .berth/outcome.new
  rm -f .berth/before .berth/present
}
printf 'step\trelease\n'
release_now
# Runs before the end is printed: the reader may then close the connection, which would kill docker.
let_go
keep=$(number_of keep)
[ -z "$manifest" ] || prune "${keep:-1000000}" "$(number_of forget)" 2>/dev/null
printf 'step\tend\n'

#!/bin/sh
# activate.sh DIRECTORY COMPOSE-KIND COMPOSE-VERSION COMPOSE-FILE STORE SOURCE ARCHIVE FORMAT EXPECTED RUN PLATFORM
# STAGED COUNT NAME… GONE FILE… BROUGHT FILE… ID… NAME…: loads the image, moves the uploaded files into place, starts
# the stack and inspects its containers. Runs entirely on the server and restores the previous state if a part fails.
# Refuses to start unless exactly STAGED files were uploaded.
# First come COUNT image names to record, then GONE files to remove and BROUGHT files that the project has for compose,
# then the ids of the archive's images and as many names for them. Stdin has the size in bytes and the text of the
# release's manifest, and in the same form the text of stages.sh, as a command has to fit into one packet; then the image
# data. With a `check` line in the manifest, another part stands before that text, which begins with checkCompose.sh then:
# what the plan expects of the compose files.
# Prints a `step` line for load, backup (if the manifest has a `backup` line), beforeStart (if it has a `hook` line),
# bridge and switch (if it has `bridge` lines), start, health, release and end. On failure, prints a `failed` line (step,
# whether the previous version is restored, what ran before: nothing, running or unknown), followed by the output.
# shellcheck disable=SC2034 # Those texts read the variables.
command -v as_root >/dev/null 2>&1 || . "$(dirname "$0")/../lib/standalone.sh"
# Ignores signals of a lost connection, so that nothing is left half done.
trap '' HUP PIPE TERM
berth_ignores=yes
cd "$(path_of "$1")" || exit 1
compose_kind=$2
compose_version=$3
compose_file=$4
store=$5
source=$6
archive=$7
format=$8
expected=$9
shift 9
run=$1
platform=$2
files_staged=$3
names=$4
shift 4
broken() { echo "the connection broke before anything was changed" >&2; exit 1; }
# read_part: reads a part of stdin: its size, a line break and its text.
read_part() {
  part=
  IFS= read -r part_size || :
  case $part_size in "" | 0 | *[!0-9]*) broken ;; esac
  part=$(dd "bs=$part_size" "count=1" "iflag=fullblock" 2>/dev/null; echo x)
  part=${part%x}
  # The caller disconnected before the part was complete.
  [ "$(printf '%s' "$part" | wc -c)" -eq "$part_size" ] || broken
}
read_part
manifest=$part
tab=$(printf '\t')
# about KEY: prints the manifest's values for a key, one per line.
about() { printf '%s\n' "$manifest" | sed -n "s/^$1$tab//p"; }
# With a `check` line, what the plan was made of follows, and the functions that compare it begin the last part.
checking=$(about check)
check_warning=
if [ -n "$checking" ]; then
  read_part
  check_expected=$part
fi
read_part
eval "$part"

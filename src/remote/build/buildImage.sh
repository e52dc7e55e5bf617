#!/bin/sh
# buildImage.sh CHUNKS NAME: builds an image from a context on stdin, and prints the output of Docker's client. Its
# last line on stderr is the image: `built`, its id, its platform, and its layers as JSON.
# stdin has the words of the client's command, each behind a `=`, with a backslash as `\\` and a line break as `\0012`;
# an empty line; as many chunks of 64 KiB as CHUNKS says, which are the context; the line `end`; and a heartbeat at
# least every three minutes. Without one, or once stdin ends, the build is stopped: Docker itself would go on, and a
# context that is cut short may look whole.
command -v as_root >/dev/null 2>&1 || . "$(dirname "$0")/../lib/standalone.sh"
buildImage=$(cat "$(dirname "$0")/subprocesses/buildImage.sh")
# The subprocess cleans up; without these, this shell would end before it.
trap : HUP INT TERM
as_root sh -c "$buildImage" sh "$1" "$2"

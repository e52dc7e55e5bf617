#!/bin/sh
# saveImages.sh NAME…: prints an archive of images, as `docker save` writes it.
command -v as_root >/dev/null 2>&1 || . "$(dirname "$0")/../lib/standalone.sh"
as_root docker save "$@" </dev/null

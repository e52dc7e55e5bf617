import { Option } from "effect"
import type { RemoteCommand } from "../../services/ssh/RemoteCommand.ts"

// The hash is that of the stored file; openssl is several times as fast at it. `tee`, to hash while storing, takes
// longer than both one after the other: it moves the bytes in small pieces.
const script = `
file=$(path_of "$1")/.berth/incoming/$2
mkdir -p "$(dirname "$file")" || exit 1
umask 077
hash() {
  if openssl dgst -sha256 -r </dev/null >/dev/null 2>&1; then openssl dgst -sha256 -r; else sha256sum; fi
}
if ! said=$(cat 2>&1 >"$file"); then
  echo "$2: $said" >&2
  echo "$(df -Pk "$(dirname "$file")" | awk 'END { print $(NF - 2) }') KiB are free there" >&2
  exit 1
fi
chmod "$3" "$file" || exit 1
stat -c %s "$file" 2>/dev/null || wc -c <"$file"
hash <"$file"
`

/**
 * Stores its input among a deploy's incoming files and answers what arrived.
 * @param name relative to the remote path, without `..`
 * @param mode permissions as octal digits
 */
export const uploadCommand = (remotePath: string, name: string, mode: "600" | "644" | "755"): RemoteCommand => ({
  what: `uploading ${name}`,
  script,
  args: [remotePath, name, mode],
  sudo: false
})

/** What the server has of a file: its size in bytes and its sha256 in hex. */
export interface Received {
  readonly bytes: number
  readonly sha256: string
}

/** Reads the answer of `uploadCommand`. */
export const parseReceived = (output: string): Option.Option<Received> => {
  const match = /^\s*(\d+)\s+([0-9a-f]{64})\b/.exec(output)
  return match?.[1] === undefined || match[2] === undefined
    ? Option.none()
    : Option.some({ bytes: Number(match[1]), sha256: match[2] })
}

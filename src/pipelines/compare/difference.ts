import { createTwoFilesPatch, FILE_HEADERS_ONLY } from "diff"
import { Option } from "effect"
import type { KeyDifference } from "../../schema/projects/Compare.ts"
import { parseEnv } from "../projects/compose/envText.ts"

// Limit in milliseconds for a diff of texts that have little in common.
const effort = { timeout: 300 }

/**
 * Unified diff from the remote to the local text; none if computing it takes too long.
 * @param sides names of both in the diff's header
 */
export const computeTextDiff = (
  name: string,
  remote: string,
  local: string,
  [there, here]: readonly [from: string, to: string] = ["remote", "local"]
): Option.Option<string> =>
  Option.fromNullable(
    createTwoFilesPatch(`${there}/${name}`, `${here}/${name}`, remote, local, undefined, undefined, {
      ...effort,
      context: 3,
      headerOptions: FILE_HEADERS_ONLY
    })
  )

const meanings = (text: string): ReadonlyMap<string, string> =>
  new Map(parseEnv(text).map(({ key, literal, value }) => [key, `${literal && value.includes("$")} ${value}`]))

const keys = (of: ReadonlyMap<string, string>, keep: (key: string) => boolean) => [...of.keys()].filter(keep).sort()

/** Names of the variables that differ between two env files. */
export const compareEnvKeys = (remote: string, local: string): KeyDifference => {
  const [there, here] = [meanings(remote), meanings(local)]
  return {
    different: keys(here, (key) => there.has(key) && there.get(key) !== here.get(key)),
    localOnly: keys(here, (key) => !there.has(key)),
    remoteOnly: keys(there, (key) => !here.has(key))
  }
}

/** Decodes bytes as text; none if they are not UTF-8 or contain a NUL. */
export const decodeUtf8Text = (bytes: Uint8Array): Option.Option<string> =>
  Option.filter(
    Option.liftThrowable(() => new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes))(),
    (text) => !text.includes("\0")
  )

/** Text from a server, if it is complete for a file of this size: neither truncated nor altered on the way. */
export const toWholeText = (text: string, size: number): Option.Option<string> =>
  new TextEncoder().encode(text).length === size && !text.includes("\uFFFD") ? Option.some(text) : Option.none()

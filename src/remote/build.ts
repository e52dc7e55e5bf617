import { Option, Schema } from "effect"
import { makeLineLimit, type RemoteCommand } from "../services/ssh/Ssh.ts"
import { script as buildImageScript } from "./build/buildImage.sh.ts"
import { script as findBuiltScript } from "./build/findBuilt.sh.ts"
import { script as saveImagesScript } from "./build/saveImages.sh.ts"
import { escapeWord } from "./exec.ts"

/** Size in bytes of the chunks in which a context is sent. */
export const contextChunk = 64 * 1024

/** Input of `buildImageCommand` before the context: the words of Docker's client, the first ones `NAME=value`. */
export const formatBuildWords = (words: ReadonlyArray<string>): string =>
  `${words.map((word) => `=${escapeWord(word)}\n`).join("")}\n`

/** Input of `buildImageCommand` after the context; heartbeats follow. */
export const endOfContext = "end\n"

/**
 * Builds an image from the context on its input, and prints what Docker's client prints. The build ends with the input.
 * @param about services that run the image, for errors
 * @param chunks size of the context, in chunks of `contextChunk` bytes
 * @param name name of the image
 */
export const buildImageCommand = (about: string, chunks: number, name: string, sudo: boolean): RemoteCommand => ({
  what: `building ${about}`,
  script: buildImageScript,
  args: [String(chunks), name],
  sudo
})

/** Prints an archive of images, as `docker save` writes it. */
export const saveImagesCommand = (names: ReadonlyArray<string>, sudo: boolean): RemoteCommand => ({
  what: "saving the built images",
  script: saveImagesScript,
  args: names,
  sudo,
  limit: makeLineLimit(Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY)
})

/** Image that a server has built. */
export interface RemoteImage {
  /** Id that the server's Docker gives it. */
  readonly id: string
  /** `os/architecture`. */
  readonly platform: string
  /** Diff ids, from the bottom up. */
  readonly layers: ReadonlyArray<string>
}

/** Prints each of these images that is there, for `parseFound`. */
export const findBuiltCommand = (names: ReadonlyArray<string>, sudo: boolean): RemoteCommand => ({
  what: "looking for images that were built before",
  script: findBuiltScript,
  args: names,
  sudo
})

const Layers = Schema.NullOr(Schema.Array(Schema.String.pipe(Schema.pattern(/^sha256:[0-9a-f]{64}$/))))
const decodeLayers = Schema.decodeUnknownOption(Schema.parseJson(Layers))

const parseImage = (words: string): Option.Option<RemoteImage> => {
  const [, id = "", platform = "", layers = ""] = /^(sha256:[0-9a-f]{64}) ([a-z0-9]+\/[a-z0-9]+) (\S+)$/.exec(words) ??
    []
  return id === ""
    ? Option.none()
    : Option.map(decodeLayers(layers), (diffIds) => ({ id, platform, layers: diffIds ?? [] }))
}

/** Parses the output of `findBuiltCommand`. */
export const parseFound = (
  stdout: string
): ReadonlyArray<{ readonly name: string; readonly image: RemoteImage }> =>
  stdout.split("\n").flatMap((line) => {
    const at = line.indexOf(" ")
    return Option.toArray(parseImage(line.slice(at + 1))).map((image) => ({ name: line.slice(0, at), image }))
  })

/** Parses the image at the end of what `buildImageCommand` prints on stderr; none if there is none. */
export const parseBuilt = (stderr: string): Option.Option<RemoteImage> => {
  const last = stderr.trimEnd().split("\n").at(-1) ?? ""
  return last.startsWith("built ") ? parseImage(last.slice("built ".length)) : Option.none()
}

import type { Path } from "@effect/platform"
import { Effect, Option } from "effect"
import { parsePreflight, preflightCommand, type ServerFacts } from "../../remote/deploy/preflightCommand.ts"
import { scrubServerOutput } from "../../remote/execute.ts"
import type { ComparedImage } from "../../schema/projects/Compare.ts"
import type { ContainerConfig } from "../../schema/projects/Project.ts"
import type { ServerAccess } from "../../schema/servers/Server.ts"
import type { LocalFiles } from "../../services/local/LocalFiles.ts"
import { Ssh } from "../../services/ssh/Ssh.ts"
import { findProjectArchive } from "../archive/findProjectArchive.ts"
import type { ImageArchive } from "../archive/imageArchive.ts"
import { listArchiveNames, readArchive, resolveImageIds } from "../archive/transfer.ts"
import { describeDockerRefusal } from "../servers/describeDockerRefusal.ts"

/** Images of an archive compared with those of a server, or a warning if that failed. */
export interface ImageComparison {
  readonly images: ReadonlyArray<ComparedImage>
  readonly warnings: ReadonlyArray<string>
}

const none: ImageComparison = { images: [], warnings: [] }

/**
 * Compares images by the ids that they get on the server, as a deploy does, or by their layers if the id is not
 * predictable.
 */
const judged = ({ images }: ImageArchive, facts: ServerFacts): ReadonlyArray<ComparedImage> => {
  const ids = resolveImageIds(images, facts)
  const layers = new Map(facts.serverImages.map((image) => [image.id, image.layers.join()]))
  const chains = new Map(images.map((image) => [image.configId, image.layers.map(({ diffId }) => diffId).join()]))
  return listArchiveNames({ images }).map(({ id, name }) => {
    const expected = ids.get(id) ?? ""
    const there = id !== name ? facts.imageIds.get(name) : layers.has(expected) ? expected : undefined
    if (there === undefined) return { name, status: "local-only" as const }
    const isSame = expected === "" ? layers.get(there) === chains.get(id) : there === expected
    return { name, status: isSame ? "same" as const : "different" as const }
  })
}

/**
 * Compares the images of a project's archive with those that have their names on the server. Failures are reported as
 * warnings.
 */
export const compareImages = Effect.fn("compare.images")(function*(
  server: ServerAccess,
  remotePath: string,
  directory: string,
  config: ContainerConfig
): Effect.fn.Return<ImageComparison, never, LocalFiles | Path.Path | Ssh> {
  const notCompared = (reason: string): ImageComparison => ({
    images: [],
    warnings: [`the images are not compared: ${reason}`]
  })
  return yield* Effect.gen(function*() {
    const file = yield* findProjectArchive(directory, config)
    if (Option.isNone(file)) return none
    const archive = yield* readArchive(file.value)
    if (Option.isNone(archive)) return notCompared(`${file.value.name} is of a form that cannot be read`)
    const names = listArchiveNames(archive.value).map(({ name }) => name)
    const questions = { remotePath, images: names, files: [], layers: true, thorough: false }
    const command = preflightCommand(questions, server.useSudo)
    const answer = yield* (yield* Ssh).exec(server, command)
    if (answer.code !== 0) return notCompared(describeDockerRefusal(scrubServerOutput(server, answer.stderr), server))
    return { images: judged(archive.value, parsePreflight(answer.stdout)), warnings: [] }
  }).pipe(Effect.catchAll(({ message }) => Effect.succeed(notCompared(message))))
})

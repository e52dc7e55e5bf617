import type { Path } from "@effect/platform"
import { Effect, Option } from "effect"
import type { ComparedImage } from "../../schema/Compare.ts"
import type { ContainerConfig } from "../../schema/Project.ts"
import type { ServerAccess } from "../../schema/Server.ts"
import type { LocalFiles } from "../../services/local/LocalFiles.ts"
import { Ssh } from "../../services/ssh/Ssh.ts"
import type { ImageArchive } from "../archive/imageArchive.ts"
import { projectArchive } from "../deploy/projectArchive.ts"
import { archiveNames, readArchive } from "../deploy/transfer.ts"
import { parsePreflight, preflightCommand, type ServerFacts } from "../remote/deployPreflight.ts"
import { serverWords } from "../remote/execute.ts"
import { dockerHelp } from "../servers/dockerHelp.ts"

/** How the images of an archive relate to those of a server, and what kept Berth from telling. */
export interface ImageComparison {
  readonly images: ReadonlyArray<ComparedImage>
  readonly warnings: ReadonlyArray<string>
}

const none: ImageComparison = { images: [], warnings: [] }

/** An image goes by its id; containerd gives ids of its own, so there an image is known by its layers. */
const judged = ({ images }: ImageArchive, facts: ServerFacts): ReadonlyArray<ComparedImage> => {
  const layers = new Map(facts.serverImages.map((image) => [image.id, image.layers.join()]))
  const chains = new Map(images.map((image) => [image.configId, image.layers.map(({ diffId }) => diffId).join()]))
  return archiveNames({ images }).map(({ id, name }) => {
    const isNameless = id === name
    const there = isNameless ? [...layers.keys()].find((one) => one === id) : facts.imageIds.get(name)
    if (there === undefined) return { name, status: "local-only" as const }
    const isSame = facts.containerdStore ? layers.get(there) === chains.get(id) : there === id
    return { name, status: isSame ? "same" as const : "different" as const }
  })
}

/**
 * Compares the images of a project's archive with what their names mean on the server. What keeps it from that is a
 * warning.
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
    const file = yield* projectArchive(directory, config)
    if (Option.isNone(file)) return none
    const archive = yield* readArchive(file.value)
    if (Option.isNone(archive)) return notCompared(`${file.value.name} is of a form that cannot be read`)
    const names = archiveNames(archive.value).map(({ name }) => name)
    const questions = { remotePath, images: names, files: [], layers: true, thorough: false }
    const command = preflightCommand(questions, server.useSudo)
    const answer = yield* (yield* Ssh).exec(server, command)
    if (answer.code !== 0) return notCompared(dockerHelp(serverWords(server, answer.stderr), server))
    return { images: judged(archive.value, parsePreflight(answer.stdout)), warnings: [] }
  }).pipe(Effect.catchAll(({ message }) => Effect.succeed(notCompared(message))))
})

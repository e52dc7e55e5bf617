import { Effect } from "effect"
import type { Scope } from "effect"
import { mkdir, rm, stat, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { shell } from "./shell.ts"

/** Two versions of an image that differ in their last layer, as archives. */
export interface Images {
  readonly name: string
  readonly megabytes: number
  readonly first: Archive
  readonly second: Archive
}

export interface Archive {
  readonly path: string
  readonly id: string
  /** Its id on the server: containerd's store has others than the engine that built it. */
  readonly idThere: string
  readonly bytes: number
}

const layersOf = 5
const env = { DOCKER_BUILDKIT: "0" }

const saved = async (name: string, path: string): Promise<Archive> => {
  await shell("docker save -o \"$1\" \"$2\"", [path, name])
  const { out } = await shell("docker image inspect --format '{{.Id}}' \"$1\"", [name])
  return { path, id: out, idThere: out, bytes: (await stat(path)).size }
}

/**
 * Builds two versions of an image of this many megabytes with this machine's own Docker: random bytes in five layers, and
 * a sixth of one mebibyte that is different in the second version.
 */
export const buildImages = (directory: string, size: number): Effect.Effect<Images, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const context = join(directory, `context-${size}`)
      const name = `berth-bench-${size}`
      await mkdir(context, { recursive: true })
      await shell("cp /bin/busybox \"$1\"", [context])
      const each = Math.max(1, Math.round((size - 3) / layersOf))
      const layers = Array.from({ length: layersOf }, (_, index) => `layer${index}`)
      for (const layer of layers) {
        await shell("head -c \"$2\" /dev/urandom >\"$1\"", [join(context, layer), String(each * 1_000_000)])
      }
      await writeFile(
        join(context, "Dockerfile"),
        [
          "FROM scratch",
          "COPY busybox /bin/busybox",
          ...layers.map((layer) => `COPY ${layer} /${layer}`),
          "COPY app /app",
          "STOPSIGNAL SIGKILL",
          "CMD [\"/bin/busybox\", \"sleep\", \"1000000\"]",
          ""
        ].join("\n")
      )
      const version = async (archive: string) => {
        await shell("head -c 1048576 /dev/urandom >\"$1\"", [join(context, "app")])
        await shell("docker build -q -t \"$1\" \"$2\"", [name, context], { env })
        return saved(name, join(directory, archive))
      }
      const first = await version(`${name}-1.tar`)
      const second = await version(`${name}-2.tar`)
      await rm(context, { recursive: true })
      return { name, megabytes: size, first, second }
    }),
    ({ first, second }) =>
      Effect.promise(() =>
        shell("docker image rm -f \"$@\" >/dev/null 2>&1 || :", [first.id, second.id]).catch(() => undefined)
      )
  )

/** The compose file of the stack that runs such an image. */
export const composeFile = (name: string): string =>
  `version: "3.8"\nservices:\n  app:\n    image: ${name}:latest\n    network_mode: none\n`

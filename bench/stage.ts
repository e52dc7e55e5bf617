import { Effect } from "effect"
import type { Scope } from "effect"
import { link, mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { type Archive, composeFile, type Images } from "./images.ts"
import { type Line, openLine } from "./line.ts"
import type { Remote } from "./remote.ts"
import { shell } from "./shell.ts"

/** The slow line of the report: 20 ms of round trip, 100 Mbit/s. */
export const slowLine = { roundTripMillis: 20, bitsPerSecond: 100_000_000 }

/** Everything that the contestants share: a server, a slow line to it, and two versions of an image. */
export interface Stage {
  readonly directory: string
  readonly remote: Remote
  readonly slow: Line
  readonly images: Images
  /** The projects that deploy the one and the other version. */
  readonly projects: { readonly first: string; readonly second: string }
}

/** The settings of a service that knows the server, directly as `near` and over the slow line as `far`. */
export const settingsFor = ({ remote, slow }: Pick<Stage, "remote" | "slow">, transfer: "auto" | "full" = "auto") => {
  const server = { host: "127.0.0.1", username: remote.user, privateKey: remote.key, useSudo: false }
  return {
    deploy: { transfer, healthTimeout: "30 seconds", healthInterval: "500 millis" },
    servers: [
      { id: "near", name: "near", port: remote.port, ...server },
      { id: "far", name: "far", port: slow.port, ...server }
    ]
  }
}

/** A project directory that deploys an archive. */
export const project = async (directory: string, name: string, archive: Archive): Promise<string> => {
  await mkdir(directory)
  await writeFile(join(directory, "compose.yml"), composeFile(name))
  await link(archive.path, join(directory, `${name}.tar`))
  return directory
}

/** The archive with the id that the server's engine gives to its image. */
const identified = async ({ env }: Remote, name: string, archive: Archive): Promise<Archive> => {
  const load =
    "docker load -q -i \"$1\" >/dev/null && docker image inspect --format '{{.Id}}' \"$2\" && docker image rm -f \"$2\" >/dev/null"
  return { ...archive, idThere: (await shell(load, [archive.path, name], { env })).out }
}

export const makeStage = (
  directory: string,
  remote: Remote,
  built: Images
): Effect.Effect<Stage, never, Scope.Scope> =>
  Effect.gen(function*() {
    const images = yield* Effect.promise(async () => ({
      ...built,
      first: await identified(remote, built.name, built.first),
      second: await identified(remote, built.name, built.second)
    }))
    const slow = yield* openLine(remote.port, slowLine)
    const projects = yield* Effect.promise(async () => ({
      first: await project(join(directory, `${images.name}-first`), images.name, images.first),
      second: await project(join(directory, `${images.name}-second`), images.name, images.second)
    }))
    return { directory, remote, slow, images, projects }
  })

export const compose =
  "if docker compose version >/dev/null 2>&1; then docker compose \"$@\"; else docker-compose \"$@\"; fi"

/** Deploy target of Berth and the others on the server. */
export const places = { berth: "containers/app", rival: "rival" }

/** Leaves no container on the server. */
export const stopAll = ({ env }: Remote) => shell("docker rm -f $(docker ps -aq) >/dev/null 2>&1 || :", [], { env })

/** Makes the server as if nothing had ever been deployed to it. */
export const emptied = async ({ remote }: Stage): Promise<void> => {
  await stopAll(remote)
  await shell("docker image rm -f $(docker image ls -aq) >/dev/null 2>&1 || :", [], { env: remote.env })
  await shell(
    "rm -rf \"$1/containers\" \"$1/rival\"; mkdir -p \"$1/rival\"; chown \"$2\": \"$1/rival\"; sync",
    [remote.home, remote.user]
  )
}

/** Has the first version run in a place, with the second one unknown to the server; the archive of the first lies there. */
export const atFirstVersion = async ({ images, projects, remote }: Stage, place: string): Promise<void> => {
  await shell(
    `compose() { ${compose}; }
docker rm -f $(docker ps -aq) >/dev/null 2>&1 || :
docker image inspect "$1" >/dev/null 2>&1 || docker load -q -i "$2" >/dev/null
docker tag "$1" "$3"
docker image rm -f "$4" >/dev/null 2>&1 || :
mkdir -p "$5"
cp "$6/compose.yml" "$5"
[ "$8" = containers/app ] || cp "$2" "$5/$3.tar"
chown -R "$7": "$(dirname "$5")"
cd "$5"
compose up -d >/dev/null 2>&1
sync`,
    [
      images.first.idThere,
      images.first.path,
      images.name,
      images.second.idThere,
      join(remote.home, place),
      projects.first,
      remote.user,
      place
    ],
    { env: remote.env }
  )
}

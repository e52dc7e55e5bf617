import { describe, expect, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { deploy } from "../../../src/pipelines/deploy/deploy.ts"
import { planContainers } from "../../../src/pipelines/deploy/plan.ts"
import { type CorpusProject, makeComposeCorpus } from "../../fixtures/docker/composeCorpus.ts"
import { buildImage, docker, lines, realDocker, uniqueName } from "../../fixtures/docker/docker.ts"
import { berth, isOtherEngine, onServer, realServer } from "../../fixtures/docker/realProject.ts"
import { run } from "../../fixtures/network/openssh.ts"
import { patience } from "../../fixtures/patience.ts"
import { thorough } from "../../fixtures/thorough.ts"

/** Parts of `docker inspect` that a compose file decides. */
const Inspected = Schema.parseJson(Schema.Array(Schema.Struct({
  Name: Schema.String,
  Config: Schema.Struct({
    Image: Schema.String,
    Env: Schema.Array(Schema.String),
    Cmd: Schema.NullOr(Schema.Array(Schema.String)),
    Labels: Schema.Record({ key: Schema.String, value: Schema.String })
  }),
  HostConfig: Schema.Struct({ Memory: Schema.Number, RestartPolicy: Schema.Struct({ Name: Schema.String }) }),
  Mounts: Schema.Array(Schema.Struct({
    Type: Schema.String,
    Name: Schema.optional(Schema.String),
    Source: Schema.String,
    Destination: Schema.String,
    RW: Schema.Boolean
  })),
  NetworkSettings: Schema.Struct({
    Ports: Schema.Record({ key: Schema.String, value: Schema.Unknown }),
    Networks: Schema.Record({
      key: Schema.String,
      value: Schema.Struct({ Aliases: Schema.NullOr(Schema.Array(Schema.String)) })
    })
  })
})))

/** The containers of a project of compose, with its directory and their ids left out. */
const inspect = (project: string, directory: string) =>
  Effect.gen(function*() {
    const ids = lines(yield* docker("ps", "-aq", "--filter", `label=com.docker.compose.project=${project}`))
    if (ids.length === 0) return []
    const containers = yield* Effect.orDie(Schema.decode(Inspected)(yield* docker("inspect", ...ids)))
    return containers.map(({ Config, HostConfig, Mounts, Name, NetworkSettings }) => ({
      name: Name,
      image: Config.Image,
      environment: Config.Env.toSorted(),
      command: Config.Cmd,
      labels: Object.entries(Config.Labels).filter(([key]) => !key.startsWith("com.docker.")),
      memory: HostConfig.Memory,
      restart: HostConfig.RestartPolicy.Name,
      mounts: Mounts.map(({ Destination, RW, Source, Type, Name: volume }) =>
        `${Type} ${volume ?? Source.replace(directory, ".")} ${Destination} ${RW}`
      ).toSorted(),
      ports: Object.keys(NetworkSettings.Ports).toSorted(),
      // The short id is an alias, too.
      networks: Object.entries(NetworkSettings.Networks).map(([network, { Aliases }]) => ({
        network,
        aliases: (Aliases ?? []).filter((alias) => !/^[0-9a-f]{12}$/.test(alias)).toSorted()
      })).toSorted((one, other) => one.network.localeCompare(other.network))
    })).toSorted((one, other) => one.name.localeCompare(other.name))
  })

const remove = (project: string) =>
  Effect.gen(function*() {
    const label = `label=com.docker.compose.project=${project}`
    const containers = lines(yield* docker("ps", "-aq", "--filter", label))
    if (containers.length > 0) yield* docker("rm", "-f", ...containers)
    for (const kind of ["network", "volume"]) {
      const found = lines(yield* docker(kind, "ls", "-q", "--filter", label))
      if (found.length > 0) yield* docker(kind, "rm", ...found)
    }
  })

const write = (directory: string, { config, files }: CorpusProject) => {
  const all = { ...files, ...config === undefined ? {} : { "container.json": JSON.stringify(config) } }
  for (const [name, text] of Object.entries(all)) {
    mkdirSync(text === null ? join(directory, name) : dirname(join(directory, name)), { recursive: true })
    if (text !== null) writeFileSync(join(directory, name), text)
  }
}

/** Starts a project the way its user does, with the words that its `container.json` stands for. */
const composeUp = (directory: string, { config = {} }: CorpusProject) => {
  const listOf = (key: string) => Schema.decodeUnknownSync(Schema.Array(Schema.String))(config[key] ?? [])
  const envFiles = listOf("envFiles")
  // Compose 1.29 takes one file of variables.
  const together = join(directory, ".env.together")
  if (envFiles.length > 0) {
    writeFileSync(together, envFiles.map((name) => readFileSync(join(directory, name), "utf8")).join("\n"))
  }
  const words = [
    ...listOf("compose").flatMap((name) => ["-f", name]),
    ...listOf("profiles").flatMap((name) => ["--profile", name]),
    ...envFiles.length > 0 ? ["--env-file", together] : []
  ]
  const program =
    "if docker compose version >/dev/null 2>&1; then docker compose \"$@\"; else docker-compose \"$@\"; fi"
  return run("sh", ["-c", `cd "$1" && shift && ${program}`, "sh", directory, ...words, "up", "-d", "--no-build"])
}

/** Projects that are deployed in each run. */
const typical = isOtherEngine
  ? [
    "an include with a directory and variables of its own",
    "a tag that overrides",
    "configs with their text",
    "env files that may be missing",
    "a name of its own"
  ]
  : [
    "two compose files",
    "extends of a file in another directory",
    "anchors and merges",
    "networks with aliases",
    "configs and secrets of files"
  ]

/** The name that compose gives a project in a directory of this name. */
const composeName = ({ files }: CorpusProject, directory: string) =>
  /COMPOSE_PROJECT_NAME=(\S+)/.exec(files[".env"] ?? "")?.[1] ??
    /^name: (\S+)/m.exec(files["compose.yml"] ?? "")?.[1] ?? directory

const tags = ["latest", "1", "2", "3", "4", "5", "7", "9", "nginx", "postgres", "redis", "redis7", "web", "api"]
const title = realServer.title("projects of the corpus that are deployed")
const available = realServer.available && realDocker.available

describe.skipIf(!available)(title, { timeout: 900_000 * patience }, () => {
  it.scopedLive("have the containers that a local compose up of them has", () =>
    Effect.gen(function*() {
      const { server, user } = yield* onServer(true)
      const image = yield* uniqueName("berth-corpus")
      yield* buildImage(image, "hello")
      for (const tag of tags) yield* docker("tag", image, `${image}:${tag}`)
      yield* Effect.addFinalizer(() =>
        Effect.ignore(docker("image", "rm", "-f", ...tags.map((tag) => `${image}:${tag}`)))
      )
      yield* Effect.acquireRelease(
        docker("network", "create", `${image}-proxy`),
        () => Effect.ignore(docker("network", "rm", `${image}-proxy`))
      )
      const root = yield* Effect.acquireRelease(
        Effect.sync(() => mkdtempSync(join(tmpdir(), "berth-corpus-"))),
        (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
      )
      chmodSync(root, 0o755)
      const all = makeComposeCorpus(image)
      const chosen = thorough ? all : all.filter(({ name }) => typical.includes(name))
      expect(chosen.length).toBeGreaterThan(4)
      yield* Effect.gen(function*() {
        for (const [index, project] of chosen.entries()) {
          const name = `${image.replaceAll("-", "")}x${index}`
          const directory = join(root, name)
          write(directory, project)
          const request = { projectPath: directory, serverId: server.id, remotePath: `~/containers/${name}` }
          const plan = yield* planContainers(request)
          // An obstacle names the key that the compose of this machine does not know.
          if (plan.obstacles.length > 0) {
            expect(project.since, plan.obstacles.join("; ")).not.toBe("1.29")
            continue
          }
          const deployed = yield* deploy(request)
          expect(deployed, `${project.name}: ${deployed.message}`).toMatchObject({ success: true })
          const own = composeName(project, name)
          yield* Effect.addFinalizer(() => Effect.ignore(remove(own)))
          const there = yield* inspect(own, join(user.home, "containers", name))
          expect(there.length, project.name).toBeGreaterThan(0)
          yield* remove(own)
          yield* Effect.orDie(composeUp(directory, project))
          const here = yield* inspect(own, directory)
          yield* remove(own)
          expect(there, project.name).toEqual(here)
        }
      }).pipe(Effect.provide(berth(server)))
    }))
})

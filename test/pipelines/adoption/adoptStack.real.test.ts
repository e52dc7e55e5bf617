import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFile } from "node:child_process"
import {
  chmodSync,
  chownSync,
  existsSync,
  lutimesSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { dirname, join } from "node:path"
import { promisify } from "node:util"
import { adoptStack } from "../../../src/pipelines/adoption/adoptStack.ts"
import { listServerStacks } from "../../../src/pipelines/adoption/serverStacks.ts"
import { compare } from "../../../src/pipelines/compare.ts"
import { deploy } from "../../../src/pipelines/deploy/deploy.ts"
import { planContainers } from "../../../src/pipelines/deploy/plan.ts"
import { listReleases } from "../../../src/pipelines/releases/releases.ts"
import { rollback } from "../../../src/pipelines/releases/rollback.ts"
import { CurrentCaller } from "../../../src/services/access/Caller.ts"
import { ProjectTrust } from "../../../src/services/ProjectTrust.ts"
import { buildImage, docker, lines, uniqueName } from "../../fixtures/docker/docker.ts"
import { berth, onServer, realServer } from "../../fixtures/docker/realProject.ts"
import { patience } from "../../fixtures/patience.ts"
import { inPart, thorough } from "../../fixtures/thorough.ts"

const run = promisify(execFile)
const isPlugin = Effect.promise(() => run("docker", ["compose", "version"]).then(() => true, () => false))

/** Runs compose as somebody at the server would, in a directory. */
const composeBy = (cwd: string, words: ReadonlyArray<string>, variables: Readonly<Record<string, string>> = {}) =>
  Effect.flatMap(
    isPlugin,
    (plugin) =>
      Effect.promise(() =>
        run(plugin ? "docker" : "docker-compose", [...plugin ? ["compose"] : [], ...words], {
          cwd,
          env: { ...process.env, ...variables }
        })
      )
  )

const put = (directory: string, files: Readonly<Record<string, string>>) =>
  Effect.sync(() => {
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(dirname(join(directory, name)), { recursive: true })
      writeFileSync(join(directory, name), content)
    }
  })

/** Ids and start times of the containers of a directory. */
const started = (directory: string) =>
  Effect.gen(function*() {
    const ids = lines(
      yield* docker("ps", "-aq", "--filter", `label=com.docker.compose.project.working_dir=${directory}`)
    )
    if (ids.length === 0) return []
    return lines(yield* docker("inspect", "--format", "{{.Id}} {{.State.StartedAt}} {{.State.Running}}", ...ids))
      .toSorted()
  })

/** A directory of stacks that somebody began by hand: removed with what runs from there. */
const makePlace = (home: string) =>
  Effect.gen(function*() {
    const name = yield* uniqueName("berth-adopt")
    const image = `${name}:latest`
    yield* buildImage(image, "one")
    const root = join(home, "odd places", name)
    yield* Effect.acquireRelease(
      Effect.sync(() => mkdirSync(root, { recursive: true })),
      () =>
        Effect.gen(function*() {
          const found = lines(
            yield* docker(
              "ps",
              "-a",
              "--format",
              "{{.ID}} {{.Label \"com.docker.compose.project.working_dir\"}}"
            )
          ).filter((line) => line.includes(name)).map((line) => line.split(" ")[0] ?? "")
          if (found.length > 0) yield* docker("rm", "-fv", ...found)
          const networks = lines(yield* docker("network", "ls", "-q", "--filter", `name=${name.replaceAll("-", "")}`))
          if (networks.length > 0) yield* docker("network", "rm", ...networks)
          rmSync(root, { recursive: true, force: true })
        }).pipe(Effect.sandbox, Effect.ignore)
    )
    return { image, name, root, key: name.replaceAll("-", "") }
  })

const ownedBy = (directory: string, owner: string) => {
  const { gid, uid } = statSync(owner)
  const own = (path: string) => {
    chownSync(path, uid, gid)
    if (statSync(path).isDirectory()) { for (const name of readdirSync(path)) own(join(path, name)) }
  }
  own(directory)
}

const service = (image: string, more: ReadonlyArray<string> = []) =>
  ["  web:", `    image: ${image}`, "    stop_signal: SIGKILL", ...more.map((line) => `    ${line}`), ""].join("\n")

const title = realServer.title("adoption of stacks that were begun by hand")

describe.skipIf(!realServer.available)(title, { timeout: 240_000 * patience }, () => {
  it.scopedLive("keeps every container, plans nothing, and records a release to go back to", () =>
    Effect.gen(function*() {
      const { server, user } = yield* onServer(true)
      const { image, key, name, root } = yield* makePlace(user.home)
      const begin = (
        directory: string,
        files: Readonly<Record<string, string>>,
        words: ReadonlyArray<string> = [],
        from = directory
      ) =>
        Effect.gen(function*() {
          yield* put(directory, files)
          ownedBy(directory, user.home)
          yield* composeBy(from, [...words, "up", "-d"])
        })
      const header = "version: \"3.8\"\nservices:\n"

      // Several files, variables, mounts, data, a name with spaces and quotes.
      const quoted = join(root, `${key} it's "here"`)
      yield* begin(quoted, {
        "docker-compose.yml": header + service(image, [
          "env_file: [\"web vars.env\"]",
          "environment: [\"A=${A}\"]",
          "volumes: [\"./site.conf:/site.conf:ro\", \"./conf.d:/conf.d:ro\", \"./uploads:/uploads\", \"./data:/data\", \"./acme.json:/acme.json\"]"
        ]),
        "docker-compose.override.yml": header + service(image, ["labels: { a: b }"]),
        ".env": "A=hush-hush\n",
        "web vars.env": "B=hush-two\n",
        "site.conf": "one",
        "conf.d/run me.sh": "#!/bin/sh\n",
        "uploads/photo": "never fetched",
        "data/rows": "never fetched",
        "acme.json": "{}"
      })
      chmodSync(join(quoted, "conf.d/run me.sh"), 0o755)
      // A service writes to the mounted file later.
      const later = Date.now() / 1000 + 60
      writeFileSync(join(quoted, "acme.json"), "{\"key\": 1}")
      lutimesSync(join(quoted, "acme.json"), later, later)

      // -f files of other names from another directory, a name of its own, profiles, and a stopped service.
      const files = join(root, `${key}-files`)
      yield* begin(
        files,
        {
          "stack.yml": header + service(image) +
            `  job:\n    image: ${image}\n    profiles: [jobs]\n    stop_signal: SIGKILL\n`,
          "stack.prod.yml": header + service(image, ["labels: { prod: \"yes\" }"]),
          "other.yml": header + service(image)
        },
        ["-f", `${key}-files/stack.yml`, "-f", `${key}-files/stack.prod.yml`, "-p", `${key}own`, "--profile", "jobs"],
        root
      )
      yield* composeBy(root, ["-f", `${key}-files/stack.yml`, "-p", `${key}own`, "stop", "web"])

      // COMPOSE_PROJECT_NAME in .env, which only root may read.
      const named = join(root, "deep/er", `${key}-named`)
      yield* begin(named, { "compose.yaml": header + service(image), ".env": `COMPOSE_PROJECT_NAME=${key}env\n` })
      chownSync(join(named, ".env"), 0, 0)
      chmodSync(join(named, ".env"), 0o600)

      // Two stacks of one name.
      const twins = ["a", "b"].map((letter) => join(root, letter, `${key}-twin`))
      for (const twin of twins) {
        yield* put(twin, {
          "compose.yml": header + service(image, [`container_name: ${key}${twin.split("/").at(-2)}`])
        })
        ownedBy(twin, user.home)
      }
      yield* composeBy(twins[0] ?? "", ["up", "-d"])
      yield* composeBy(twins[1] ?? "", ["-p", `${key}-twin-b`, "up", "-d"])

      // Hidden, of another alphabet, with dots, below another stack, and deep down.
      const places = inPart([".hidden", "λόγος", "v1.2", "a/nested", "1/2/3/4/5/6"], [])
      const odd = places.map((place, index) => join(root, place, `${key}-odd${index}`))
      for (const directory of odd) yield* begin(directory, { "compose.yml": header + service(image) })

      const stacks = [quoted, files, named, ...twins, ...odd]
      const projects = join(root, "projects")
      mkdirSync(projects)
      const pathOf = (directory: string) => join(projects, String(stacks.indexOf(directory)))
      yield* Effect.gen(function*() {
        const listed = (yield* listServerStacks(server.id)).filter(({ directory }) => directory.startsWith(root))
        expect(listed.map(({ directory }) => directory).toSorted()).toEqual(stacks.toSorted())
        expect(listed.find(({ directory }) => directory === files)).toMatchObject({
          name: `${key}own`,
          remotePath: `~/odd places/${name}/${key}-files`,
          exists: true,
          services: ["job", "web"],
          containers: 2,
          running: 1,
          project: null
        })

        // A failed record leaves the files to their owners.
        const blocked = join(named, ".berth")
        mkdirSync(blocked)
        writeFileSync(join(blocked, "releases"), "")
        ownedBy(blocked, user.home)
        const unrecorded = { serverId: server.id, remotePath: named, projectPath: join(projects, "unrecorded") }
        expect(yield* Effect.flip(adoptStack(unrecorded))).toMatchObject({ _tag: "AdoptionFailed" })
        expect(statSync(join(named, ".env")).uid).toBe(0)
        expect(existsSync(unrecorded.projectPath)).toBe(false)
        rmSync(blocked, { recursive: true })

        for (const directory of inPart(stacks, [quoted, files, ...twins.slice(1)])) {
          const projectPath = pathOf(directory)
          const before = yield* started(directory)
          const request = { serverId: server.id, remotePath: directory, projectPath }
          const planned = yield* adoptStack({ ...request, plan: true })
          expect(existsSync(projectPath)).toBe(false)
          expect(existsSync(join(directory, ".berth"))).toBe(false)
          expect(planned.release).toBe(null)
          // With a token it ends the trust in projects whose programs could read what it writes.
          const kept: Array<boolean> = []
          const beside = join(projects, "trusted")
          const trust = yield* ProjectTrust
          const adopted = yield* adoptStack(request).pipe(
            Effect.provideService(CurrentCaller, { name: "Ann", role: "operator" }),
            Effect.provideService(ProjectTrust, {
              ...trust,
              keepOnly: (keep) =>
                Effect.sync(() => kept.push(keep(beside, { "hook make": "x" }), keep("/elsewhere/x", {})))
            })
          )
          expect(kept.slice(0, 2)).toEqual([false, true])
          expect(adopted).toEqual({ ...planned, release: "1" })
          expect(JSON.stringify(adopted)).not.toMatch(/hush/)
          expect(adopted.services.map(({ change }) => change)).toEqual(adopted.services.map(() => "keep"))
          expect(yield* started(directory)).toEqual(before)

          const config = JSON.parse(readFileSync(join(projectPath, "container.json"), "utf8"))
          expect(config).toMatchObject({ serverId: "Main", remotePath: directory.replace(user.home, "~") })
          const place = { serverId: server.id, remotePath: config.remotePath, projectPath }
          const plan = yield* planContainers(place)
          expect(plan.obstacles).toEqual([])
          expect(plan.services.map(({ change }) => change)).toEqual(plan.services.map(() => "keep"))
          expect(plan.files.map(({ change }) => change)).toEqual(plan.files.map(() => "same"))
          const { files: compared } = yield* compare(place)
          expect(compared.filter(({ name, status }) => status !== "same" && !name.startsWith("data/"))).toEqual([])

          if (twins.includes(directory) || (!thorough && directory !== files)) continue
          const running = before.map((line) => line.split(" ")[0])
          expect(yield* deploy(place)).toMatchObject({ success: true })
          expect((yield* started(directory)).map((line) => line.split(" ")[0])).toEqual(running)
        }

        expect(readdirSync(pathOf(quoted)).toSorted()).toEqual([
          ".env",
          "conf.d",
          "container.json",
          "docker-compose.override.yml",
          "docker-compose.yml",
          "site.conf",
          "web vars.env"
        ])
        const modeOf = (file: string) => (statSync(join(pathOf(quoted), file)).mode & 0o777).toString(8)
        expect([".env", "web vars.env", "conf.d/run me.sh"].map(modeOf)).toEqual(["600", "600", "755"])
        const configOf = (directory: string) =>
          JSON.parse(readFileSync(join(pathOf(directory), "container.json"), "utf8"))
        expect(configOf(quoted)).toMatchObject({
          compose: ["docker-compose.yml", "docker-compose.override.yml"],
          data: ["uploads", "acme.json"]
        })
        expect(configOf(files)).toMatchObject({
          compose: ["stack.yml", "stack.prod.yml"],
          profiles: ["jobs"],
          projectName: `${key}own`
        })
        if (thorough) {
          expect(configOf(named)).toEqual({ serverId: "Main", remotePath: `~/odd places/${name}/deep/er/${key}-named` })
        }
        expect(configOf(twins[1] ?? "")).toMatchObject({ projectName: `${key}-twin-b` })

        // A change, a deploy, and the way back.
        const place = { serverId: server.id, remotePath: configOf(files).remotePath }
        const first = yield* started(files)
        yield* put(pathOf(files), { "stack.prod.yml": header + service(image, ["labels: { prod: changed }"]) })
        yield* deploy({ ...place, projectPath: pathOf(files) })
        const labelOf = Effect.gen(function*() {
          const [id = ""] = lines(
            yield* docker(
              "ps",
              "-q",
              "--filter",
              `label=com.docker.compose.project=${key}own`,
              "--filter",
              "label=com.docker.compose.service=web"
            )
          )
          return yield* docker("inspect", "--format", "{{.Config.Labels.prod}}", id)
        })
        expect(yield* labelOf).toBe("changed")
        // The image of the first release loses its name.
        yield* docker("rmi", image)
        expect(yield* rollback({ ...place, release: "1" })).toMatchObject({ success: true })
        expect(yield* labelOf).toBe("yes")
        expect((yield* started(files)).length).toBe(first.length)
        const releases = yield* listReleases(server.id, place.remotePath)
        expect(releases.find(({ id }) => id === "1")).toMatchObject({ available: true, images: [{ name: image }] })
        expect(
          lines(yield* docker("images", "--format", "{{.Repository}}:{{.Tag}}"))
            .filter((tag) => tag.startsWith("berth/release:"))
        ).not.toEqual([])
        // Adopted once more, into another directory: its release stays.
        const again = yield* adoptStack({
          serverId: server.id,
          remotePath: place.remotePath,
          projectPath: join(projects, "again")
        })
        expect(again.release).toBe(releases.find(({ current }) => current)?.id)
        expect((yield* listServerStacks(server.id)).find(({ directory }) => directory === files)?.exists).toBe(true)
      }).pipe(Effect.provide(berth(server, { "projects.root": projects })))
    }))

  it.scopedLive("refuses what it cannot take over, and changes nothing", () =>
    Effect.gen(function*() {
      const { server, user } = yield* onServer(false)
      const { image, key, root } = yield* makePlace(user.home)
      const header = "version: \"3.8\"\nservices:\n"
      const begin = (directory: string, words: ReadonlyArray<string> = [], compose = header + service(image)) =>
        Effect.gen(function*() {
          yield* put(directory, { "compose.yml": compose })
          ownedBy(directory, user.home)
          yield* composeBy(directory, [...words, "up", "-d"])
        })
      const projectPath = join(root, "project")
      yield* Effect.gen(function*() {
        const refused = (remotePath: string, path = projectPath) =>
          Effect.flip(adoptStack({ serverId: server.id, remotePath, projectPath: path }))
        const gone = join(root, `${key}-gone`)
        yield* begin(gone)
        rmSync(gone, { recursive: true })
        expect((yield* refused(gone)).message).toMatch(/its directory does not exist any more/)
        expect((yield* listServerStacks(server.id)).find(({ directory }) => directory === gone)).toMatchObject({
          exists: false
        })

        const linked = join(root, `${key}-linked`)
        yield* put(linked, { "compose.yml": header + service(image) })
        symlinkSync(linked, `${linked}-link`)
        ownedBy(linked, user.home)
        yield* composeBy(root, ["-f", `${linked}-link/compose.yml`, "up", "-d"])
        expect((yield* refused(linked)).message).toMatch(/which is a link to ".*-linked": start it again from there/)

        const shared = join(root, `${key}-shared`)
        yield* begin(shared)
        yield* composeBy(shared, ["-p", `${key}other`, "up", "-d"])
        expect((yield* refused(shared)).message).toMatch(/2 compose projects run from there/)

        const outside = join(root, `${key}-outside`)
        yield* begin(outside)
        yield* composeBy(outside, ["-f", "compose.yml", "-f", join(shared, "compose.yml"), "up", "-d"])
        yield* composeBy(outside, [
          "-f",
          "compose.yml",
          "-f",
          join(shared, "compose.yml"),
          "up",
          "-d",
          "--force-recreate"
        ])
        expect((yield* refused(outside)).message).toMatch(
          /with the compose file ".*-shared\/compose.yml", which is not in/
        )

        const roots = join(root, `${key}-roots`)
        yield* begin(roots)
        chownSync(roots, 0, 0)
        chmodSync(roots, 0o755)
        expect((yield* refused(roots)).message).toMatch(/may not write to its directory/)

        const fit = join(root, `${key}-fit`)
        yield* begin(fit)
        const before = yield* started(fit)
        yield* put(projectPath, { "mine.txt": "mine" })
        expect(yield* refused(fit)).toMatchObject({ _tag: "ProjectNotEmpty", status: 409 })
        expect(readdirSync(projectPath)).toEqual(["mine.txt"])
        expect(yield* refused(`${root}/nothing`, join(root, "new"))).toMatchObject({
          _tag: "StackUnknown",
          status: 404
        })
        expect(yield* refused(`${fit}/../${key}-fit`)).toMatchObject({ status: 400 })
        expect(existsSync(join(root, "new"))).toBe(false)

        // Two at once into one directory: one of them wins.
        const both = yield* Effect.all(
          [1, 2].map(() =>
            Effect.either(adoptStack({ serverId: server.id, remotePath: fit, projectPath: join(root, "both") }))
          ),
          { concurrency: 2 }
        )
        expect(both.map(({ _tag }) => _tag).toSorted()).toEqual(["Left", "Right"])
        expect(both.find((each) => each._tag === "Left")).toMatchObject({ left: { _tag: "ProjectNotEmpty" } })
        expect(readdirSync(join(root, "both")).toSorted()).toEqual(["compose.yml", "container.json"])
        expect(yield* started(fit)).toEqual(before)
        for (const directory of [linked, shared, outside, roots]) {
          expect(existsSync(join(directory, ".berth"))).toBe(false)
        }
      }).pipe(Effect.provide(berth(server)))
    }))
})

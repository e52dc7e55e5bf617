import { NodeContext } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { parse } from "yaml"
import { listExpectedCompose } from "../../../../src/pipelines/activation/expectedCompose.ts"
import { type DeployPlan, planDeploy } from "../../../../src/pipelines/deploy/preflight.ts"
import { checkComposeKeys } from "../../../../src/pipelines/projects/compose/checkComposeKeys.ts"
import { LocalFilesLive } from "../../../../src/services/local/LocalFiles.ts"
import { settingsTest } from "../../../../src/testing/SettingsTest.ts"
import { type CorpusProject, makeComposeCorpus } from "../../../fixtures/docker/composeCorpus.ts"
import { realDocker } from "../../../fixtures/docker/docker.ts"
import { inPart } from "../../../fixtures/thorough.ts"

const library = fileURLToPath(new URL("../../../../src/remote/lib/compose.sh", import.meta.url))

/** Runs the compose that deploys to this machine run, the way they call it. */
const compose = (directory: string, line: string) => {
  const script = `as_root() { "$@"; }; . "${library}"; find_compose; ${line}`
  const { status, stderr, stdout } = spawnSync("sh", ["-c", script], { cwd: directory, encoding: "utf8" })
  return { status, said: status === 0 ? stdout : stderr }
}

const version = realDocker.available ? compose("/", "echo \"$compose_version\"").said.trim() : "0"
const numbers = (text: string) => text.split(".").map(Number)
const isKnown = (since: string) => {
  const [[one = 0, two = 0, three = 0], [major = 0, minor = 0, patch = 0]] = [numbers(version), numbers(since)]
  return one !== major ? one > major : two !== minor ? two > minor : three >= patch
}

const write = (directory: string, name: string, text: string | Uint8Array) => {
  mkdirSync(dirname(join(directory, name)), { recursive: true })
  writeFileSync(join(directory, name), text)
}

/** Notes how compose has to be called, as a deploy does. */
const note = (directory: string, { compose: { fileNames, profiles, projectName, variableFiles } }: DeployPlan) =>
  write(
    directory,
    ".berth/stack",
    [
      ...fileNames.map((name) => `compose\t${name}`),
      ...profiles.map((name) => `profile\t${name}`),
      ...variableFiles.map((name) => `variables\t${name}`),
      ...projectName === undefined ? [] : [`project\t${projectName}`],
      ""
    ].join("\n")
  )

interface Rendered {
  readonly services: Record<string, { readonly image?: string; readonly volumes?: ReadonlyArray<string | Bind> }>
  readonly configs?: Record<string, { readonly file?: string }>
  readonly secrets?: Record<string, { readonly file?: string }>
}
interface Bind {
  readonly type: string
  readonly source?: string
}

const isRendered = (value: unknown): value is Rendered => typeof value === "object" && value !== null

/** Files and directories of the project in what compose makes of it: mounts by service, and those of configs and secrets. */
const listUses = (directory: string, { configs = {}, secrets = {}, services }: Rendered) => {
  const inside = (path: string | undefined) =>
    path?.startsWith(`${directory}/`) ? [path.slice(directory.length + 1)] : []
  const mounts = Object.entries(services).flatMap(([service, { volumes = [] }]) =>
    volumes.flatMap((volume) =>
      inside(typeof volume === "string" ? volume.split(":")[0] : volume.type === "bind" ? volume.source : undefined)
        .map((path) => `${service} ${path}`)
    )
  )
  return {
    mounts: mounts.toSorted(),
    files: [...Object.values(configs), ...Object.values(secrets)].flatMap(({ file }) => inside(file)).toSorted()
  }
}

const planned = (directory: string) =>
  Effect.provide(
    planDeploy(directory),
    Layer.mergeAll(LocalFilesLive, settingsTest(), NodeContext.layer).pipe(Layer.provideMerge(NodeContext.layer))
  )

const scene = ({ config, files, name }: CorpusProject) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const root = mkdtempSync(join(tmpdir(), "berth-corpus-"))
      const [project, copy] = [join(root, "one", "shop"), join(root, "two", "shop")]
      for (const directory of [project, copy]) mkdirSync(directory, { recursive: true })
      for (const [file, text] of Object.entries(files)) {
        if (text === null) mkdirSync(join(project, file), { recursive: true })
        else write(project, file, text)
      }
      if (config !== undefined) write(project, "container.json", JSON.stringify(config))
      return { root, project, copy, name }
    }),
    ({ root }) => Effect.sync(() => rmSync(root, { recursive: true, force: true }))
  )

// docker-compose 1.x takes seconds to begin.
const isSlow = version.startsWith("1.")
const composeCorpus = makeComposeCorpus("busybox")
const known = composeCorpus.filter(({ since }) => isKnown(since))

describe.skipIf(!realDocker.available)(realDocker.title(`projects of the corpus, with compose ${version}`), () => {
  it.scopedLive.each(isSlow ? inPart(known, known.filter((_, index) => index % 3 === 0)) : known)(
    "are read as compose reads them, and are whole where only what a deploy brings is: $name",
    (project) =>
      Effect.gen(function*() {
        const { copy, project: directory } = yield* scene(project)
        const plan = yield* planned(directory)
        note(directory, plan)
        const { said, status } = compose(directory, "compose_stack \"\" config")
        expect(status, said).toBe(0)
        const rendered: unknown = parse(said)
        if (!isRendered(rendered)) return expect.fail(said)

        const active = plan.compose.services.filter(({ isInactive }) => isInactive !== true || isSlow)
        expect(Object.keys(rendered.services).toSorted()).toEqual(active.map(({ name }) => name).toSorted())
        for (const { image, name } of active) expect(rendered.services[name]?.image).toBe(image)
        const names = new Set(active.map(({ name }) => name))
        const uses = listUses(directory, rendered)
        const mounts = plan.references.filter(({ kind }) => kind === "mount").flatMap(({ path, services }) =>
          services.filter((service) => names.has(service)).map((service) => `${service} ${path}`)
        )
        expect(mounts.toSorted()).toEqual(uses.mounts)
        const others = plan.references.filter(({ kind }) => kind === "config" || kind === "secret")
        expect(others.map(({ path }) => path).toSorted()).toEqual(uses.files)
        expect(listExpectedCompose(plan)).toBeDefined()
        expect(plan.references.flatMap(({ isUndecided, path }) => isUndecided === true ? [path] : [])).toEqual(
          project.undecided ?? []
        )

        for (const { name, path } of plan.files) write(copy, name, readFileSync(path))
        note(copy, plan)
        const again = compose(copy, "compose_stack \"\" config")
        expect(again.status, again.said).toBe(0)
        expect(again.said.replaceAll(copy, directory)).toBe(said)
      })
  )

  it.scopedLive("that this compose does not know are refused by their plan, each with its place", () =>
    Effect.forEach(composeCorpus.filter(({ since }) => !isKnown(since)), (project) =>
      Effect.gen(function*() {
        const { project: directory } = yield* scene(project)
        const plan = yield* planned(directory)
        const facts = {
          composeKind: isSlow ? "v1" as const : "v2" as const,
          composeVersion: version,
          engine: "20.10.24"
        }
        const { obstacles } = checkComposeKeys(plan.compose.sources, facts, "Main")
        note(directory, plan)
        const { said, status } = compose(directory, "compose_stack \"\" config")
        // An obstacle for each project that compose refuses, and for no other.
        expect({ name: project.name, refused: obstacles.length > 0 }, said).toEqual({
          name: project.name,
          refused: status !== 0
        })
        for (const obstacle of obstacles) expect(obstacle).toMatch(/^[^ ]+\.yml:\d+/)
      })))
})

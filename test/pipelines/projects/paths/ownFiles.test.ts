import { Path } from "@effect/platform"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Either, Layer, Redacted, Ref } from "effect"
import { readdirSync, readFileSync } from "node:fs"
import { adopt } from "../../../../src/pipelines/adoptApplication.ts"
import {
  appendChangelog,
  isChangelogValid,
  readRecordedChanges
} from "../../../../src/pipelines/applications/changelog.ts"
import { init } from "../../../../src/pipelines/init.ts"
import { writeOwnFile } from "../../../../src/pipelines/projects/paths.ts"
import { changeProjectRecipients, setSecret } from "../../../../src/pipelines/secrets/projectSecrets.ts"
import { planUpsert, upsertApp } from "../../../../src/pipelines/upsert/upsert.ts"
import type { ChangelogEntry } from "../../../../src/schema/upsert.ts"
import { LocalFiles } from "../../../../src/services/local/LocalFiles.ts"
import type { LocalFixture } from "../../../../src/testing/LocalFilesTest.ts"
import { PlatformCalls } from "../../../../src/testing/PlatformTest.ts"
import { declaring, memoryWorld } from "../../../layers/worlds/memoryWorld.ts"

const projectPath = "/srv/shop"
const secret = "/home/ann/.ssh/id_ed25519"
const key = "-----BEGIN KEY-----"

const entry: ChangelogEntry = {
  timestamp: "2026-01-02T03:04:05.678Z",
  action: "update",
  appName: "shop",
  uuid: "app-1",
  changes: [],
  configSnapshot: { name: "shop" }
}

const recipient = "age167qd5p7esy5e95k2qeujmtztksc2cp940pmgnx7krxxmdhzxsu7sw82th9"

/** Programs that write files into a project. */
const programs = {
  changelog: appendChangelog(projectPath, entry),
  upsert: upsertApp({ projectPath }),
  adopt: adopt({ projectPath, uuid: "a1" }),
  init: init({ projectPath }),
  secret: setSecret({ projectPath, name: "WORD", value: Redacted.make("word") }),
  recipients: changeProjectRecipients({ projectPath, add: [recipient] })
}
type Name = keyof typeof programs
const names: ReadonlyArray<Name> = ["changelog", "upsert", "adopt", "init", "secret", "recipients"]

const worldOf = (name: Name, more: Readonly<Record<string, LocalFixture>>) => {
  const declared = name === "upsert"
    ? declaring([{ name: "shop", port: 2007 }])
    : name === "secret"
    ? {
      [`${projectPath}/container.json`]: JSON.stringify({ secrets: { WORD: { age: "secrets.age" } } }),
      [`${projectPath}/secrets.recipients`]: `${recipient}\n`
    }
    : {}
  return memoryWorld({
    files: { [`${projectPath}/.keep`]: "", [secret]: key, ...declared, ...more },
    ...(name === "adopt"
      ? { platform: { applications: [{ uuid: "a1", name: "shop", git_repository: "git@git.test:2004/ann/shop.git" }] } }
      : {})
  })
}

/** Names of the files that a program writes below the project. */
const writtenBy = (name: Name) =>
  Effect.gen(function*() {
    const written = yield* Ref.make<ReadonlySet<string>>(new Set())
    const note = (file: string) => Ref.update(written, (all) => new Set([...all, file]))
    const recording = Layer.effect(
      LocalFiles,
      Effect.map(LocalFiles, (files) =>
        LocalFiles.of({
          ...files,
          write: (file, content, options) => Effect.zipRight(note(file), files.write(file, content, options)),
          save: (file, content, options) => Effect.zipRight(note(file), files.save(file, content, options)),
          create: (file, content, options) => Effect.zipRight(note(file), files.create(file, content, options))
        }))
    )
    const program: Effect.Effect<unknown, unknown, Effect.Effect.Context<typeof programs[Name]>> = programs[name]
    yield* Effect.ignore(program).pipe(Effect.provide(Layer.provideMerge(recording, worldOf(name, {}))))
    return [...yield* Ref.get(written)].filter((file) => file.startsWith(`${projectPath}/`))
  })

describe("a file that Berth writes into a project", () => {
  it("comes from a module that is known here", () => {
    const root = "src/"
    const writes = new RegExp([
      "\\b(?:files|local|LocalFiles\\)+)\\.(?:save|write|create|makeDirectory)\\(",
      "\\bwriteOwnFile\\(",
      "\\b(?:writeFile|appendFile|mkdir|rename|symlink|link|copyFile|cp)(?:Sync)?\\(",
      "\\bcreateWriteStream\\("
    ].join("|"))
    const found = readdirSync(root, { recursive: true, encoding: "utf8" })
      .map((name) => name.replaceAll("\\", "/"))
      .filter((name) => /\.tsx?$/.test(name) && !/\.sh\.ts$|^(?:web|sandbox|testing)\//.test(name))
      .filter((name) => writes.test(readFileSync(root + name, "utf8")))
    const programsBelow = [
      "pipelines/adoptApplication.ts",
      "pipelines/applications/changelog.ts",
      "pipelines/init.ts",
      "pipelines/projects/paths.ts",
      "pipelines/secrets/ageFile.ts"
    ]
    // Links in the place of what these write: pull.test.ts, ci.test.ts, and a directory that an adoption makes itself.
    const others = [
      "cli/commands/ci.ts",
      "pipelines/adoption/adoptStack.ts",
      "pipelines/adoption/stackFiles.ts",
      "pipelines/pull.ts"
    ]
    // The caller names these: a report, and the root of all projects.
    const named = ["cli/reports.ts", "pipelines/settings.ts"]
    const besideSettings = [
      "pipelines/archive/builtArchive.ts",
      "pipelines/backups/copyPlaces.ts",
      "pipelines/build/buildAtServer.ts",
      "services/HostKeysLive.ts",
      "services/ProjectTrust.ts",
      "services/settings/SettingsFile.ts",
      "services/settings/confirm.ts",
      "services/state/databaseFile.ts",
      "services/state/discovery.ts",
      "services/state/openState.ts"
    ]
    const temporary = ["pipelines/build/buildImages.ts", "pipelines/deploy/readSource.ts", "pipelines/textDiffs.ts"]
    const ports = ["services/local/LocalFiles.ts", "services/locks/fileLock.ts"]
    const known = [...programsBelow, ...others, ...named, ...besideSettings, ...temporary, ...ports]
    expect(found.toSorted()).toEqual(known.toSorted())
  })

  it.effect.each(names)(
    "is never a link to a file elsewhere, nor made through one (%s)",
    (name) =>
      Effect.gen(function*() {
        const written = yield* writtenBy(name)
        expect(written.length).toBeGreaterThan(0)
        for (const file of written) {
          for (const target of [secret, "/srv/elsewhere"]) {
            const kept = yield* Effect.gen(function*() {
              const files = yield* LocalFiles
              const program: Effect.Effect<unknown, unknown, Effect.Effect.Context<typeof programs[Name]>> =
                programs[name]
              const ended = yield* Effect.either(program)
              const path = yield* Path.Path
              const [there] = (yield* files.names(projectPath)).filter((each) => each.name === path.basename(file))
              return {
                ended: Either.isRight(ended) && name !== "init",
                kind: there?.kind,
                secret: new TextDecoder().decode(yield* files.read(secret)),
                elsewhere: yield* files.find("/srv/elsewhere"),
                copies: (yield* files.names(projectPath)).filter((each) => each.name.includes("corrupt"))
              }
            }).pipe(Effect.provide(worldOf(name, { [file]: { link: target } })))
            expect([file, target, kept]).toMatchObject([file, target, {
              ended: false,
              kind: "link",
              secret: key,
              copies: []
            }])
            expect(kept.elsewhere).toMatchObject({ _tag: "None" })
          }
        }
      })
  )

  it.effect("is no link in the place of the copy of a broken changelog", () =>
    Effect.gen(function*() {
      yield* appendChangelog(projectPath, entry)
      const files = yield* LocalFiles
      const read = (name: string) => Effect.map(files.read(name), (bytes) => new TextDecoder().decode(bytes))
      expect(yield* read(secret)).toBe(key)
      expect(yield* read(`${projectPath}/platform.changelog.json.corrupt-3`)).toBe("{ broken")
    }).pipe(Effect.provide(worldOf("changelog", {
      [`${projectPath}/platform.changelog.json`]: "{ broken",
      [`${projectPath}/platform.changelog.json.corrupt`]: { link: secret },
      [`${projectPath}/platform.changelog.json.corrupt-2`]: { link: "/srv/elsewhere" }
    }))))

  it.effect("is not a link that holds a container.json without a server", () =>
    Effect.gen(function*() {
      const files = yield* LocalFiles
      yield* Effect.ignore(init({ projectPath, serverId: "1" }))
      expect(new TextDecoder().decode(yield* files.read("/srv/config.json"))).toBe("{\"serverId\": \"\"}")
    }).pipe(Effect.provide(worldOf("init", {
      "/srv/config.json": "{\"serverId\": \"\"}",
      [`${projectPath}/container.json`]: { link: "/srv/config.json" }
    }))))

  it.effect("is refused as a link before anything is changed, and in the plan", () =>
    Effect.gen(function*() {
      const planned = yield* Effect.flip(planUpsert({ projectPath }))
      const refused = yield* Effect.flip(upsertApp({ projectPath }))
      for (const { message } of [planned, refused]) expect(message).toContain("platform.changelog.json is a link")
      const calls = (yield* Effect.flatten(PlatformCalls)).map(([operation]) => operation)
      expect(calls.filter((operation) => /create|update|set|deploy/i.test(operation))).toEqual([])
    }).pipe(Effect.provide(worldOf("upsert", { [`${projectPath}/platform.changelog.json`]: { link: secret } }))))

  it.effect("is not read through a link either", () =>
    Effect.gen(function*() {
      expect(yield* readRecordedChanges(projectPath, "shop")).toEqual([])
      expect((yield* Effect.flip(isChangelogValid(projectPath))).message).toContain("is a link")
    }).pipe(Effect.provide(worldOf("changelog", {
      "/srv/log.json": JSON.stringify([{ ...entry, changes: [{ field: "a", label: "A", old: 1, new: 2 }] }]),
      [`${projectPath}/platform.changelog.json`]: { link: "/srv/log.json" }
    }))))

  it.effect("is new with permissions for its owner alone, and keeps those that it has", () =>
    Effect.gen(function*() {
      const files = yield* LocalFiles
      const modeOf = (name: string) =>
        Effect.map(Effect.flatten(files.find(`${projectPath}/${name}`)), ({ mode }) => mode)
      yield* writeOwnFile(projectPath, "new.json", "1")
      yield* writeOwnFile(projectPath, "old.json", "2")
      expect([yield* modeOf("new.json"), yield* modeOf("old.json")]).toEqual([0o600, 0o644])
    }).pipe(Effect.provide(worldOf("changelog", { [`${projectPath}/old.json`]: "1" }))))
})

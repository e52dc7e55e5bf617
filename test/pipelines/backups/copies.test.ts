import { Path } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { ConfigProvider, Effect, Layer } from "effect"
import { createHash } from "node:crypto"
import { mkdirSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { bringBack, copyBackup, findCopies, listOutdated, readCopies } from "../../../src/pipelines/backups/copies.ts"
import { formatDefinition } from "../../../src/pipelines/backups/items.ts"
import { parseManifest, parseVerified, type RemoteBackup } from "../../../src/remote/backups.ts"
import type { BackupCopy } from "../../../src/schema/backups.ts"
import { LocalFilesLive } from "../../../src/services/local/LocalFiles.ts"
import { StepsLive } from "../../../src/services/runs/Steps.ts"
import { Settings } from "../../../src/services/settings/Settings.ts"
import { localFilesTest, localProcessesTest } from "../../../src/testing/LocalFilesTest.ts"
import { settingsTest, storedServer } from "../../../src/testing/SettingsTest.ts"
import { SshAsked, type SshReply, sshTest } from "../../../src/testing/SshTest.ts"
import { temporaryDirectory } from "../../layers/temporary.ts"

const stack = { server: storedServer({ id: "main", name: "Main" }), remotePath: "~/shop" }
const here: ReadonlyArray<BackupCopy> = [{ to: "here" }]
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex")

const backupOf = (id: number, files: Readonly<Record<string, string>>, at = `2026-01-02T03:04:0${id}Z`) =>
  parseManifest(String(id), [
    `at\t${at}`,
    "trigger\trequest",
    "by\tann",
    ...Object.entries(files).map(([name, text]) => `data\t${name}\t${name}.gz\t${text.length}\t${sha256(text)}\t1`),
    "copy\tvault\tverified"
  ])

const answers = (files: Readonly<Record<string, string>>, id = "1") => ({
  ...Object.fromEntries(
    Object.entries(files).map(([name, stdout]) => [`reading ${name}.gz of backup ${id}`, { stdout }])
  ),
  [`noting the copies of backup ${id}`]: {}
})

/** Runs with the files of this machine, and settings in a directory of their own. */
const within =
  (directory: string, replies: Parameters<typeof sshTest>[0]) => <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    effect.pipe(
      Effect.updateService(Settings, (settings) => ({ ...settings, directory, isLasting: true })),
      Effect.provide(
        Layer.mergeAll(
          sshTest(replies),
          settingsTest({}, [stack.server]),
          localProcessesTest({}),
          StepsLive
        ).pipe(Layer.provideMerge(LocalFilesLive), Layer.provideMerge(NodeContext.layer))
      )
    )

const stackIn = (directory: string) => {
  const root = join(directory, "berth.backups")
  return join(root, readdirSync(root)[0] ?? "")
}

describe("copies of backups", () => {
  it.effect("are files of this machine that its user alone can read", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const files = { database: "rows", uploads: "a picture" }
      const backup = backupOf(1, files)
      yield* within(directory, answers(files))(Effect.gen(function*() {
        expect(yield* copyBackup(stack, backup, here, 5)).toEqual({ done: ["here"], failures: [] })
        const copy = join(stackIn(directory), "1-20260102T030401Z")
        expect(readdirSync(copy).toSorted()).toEqual(["database.gz", "manifest", "uploads.gz"])
        expect(readFileSync(join(copy, "uploads.gz"), "utf8")).toBe("a picture")
        expect(readFileSync(join(copy, "manifest"), "utf8")).not.toContain("copy\t")
        // It is there already, and nothing is read again.
        yield* copyBackup(stack, backup, here, 5)
        const asked = yield* yield* SshAsked
        expect(asked.filter(({ what }) => what.startsWith("reading"))).toHaveLength(2)
        expect(asked.at(-1)?.stdin).toBe("copy\there\tverified")

        const { listCopies, lost, warnings } = yield* readCopies(stack, { backups: [backup] }, here)
        expect([listCopies(backup), lost, warnings]).toEqual([
          [{ to: "here", verified: true }, { to: "vault", verified: true }],
          [],
          []
        ])
      }))
    }).pipe(Effect.scoped))

  const broken: ReadonlyArray<readonly [what: string, reply: SshReply, reason: RegExp]> = [
    ["breaks off", { stdout: "ro", code: 1, stderr: "Input/output error" }, /^Main: .*Input\/output error/],
    ["has changed", { stdout: "rOws" }, /^Main: database is not what was written: its hash has changed$/],
    ["never ends", { stdout: "rows and more" }, /^Main: database\.gz is longer than its manifest says$/]
  ]
  it.effect.each(broken)("are not listed of a file that %s", ([, reply, reason]) =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const backup = backupOf(1, { database: "rows" })
      const replies = { ...answers({}), "reading database.gz of backup 1": reply }
      yield* within(directory, replies)(Effect.gen(function*() {
        const { done, failures } = yield* copyBackup(stack, backup, here, 5)
        expect([done, failures]).toEqual([[], [expect.stringMatching(reason)]])
        expect((yield* readCopies(stack, { backups: [] }, here)).lost).toEqual([])
      }))
    }).pipe(Effect.scoped))

  it.effect("go with their number, but never the last one of an item, and what was left unfinished goes too", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const texts: ReadonlyArray<Readonly<Record<string, string>>> = [{ a: "1", b: "1" }, { a: "2" }, { a: "3" }, {
        a: "4"
      }]
      for (const [index, files] of texts.entries()) {
        const id = index + 1
        yield* within(directory, answers(files, String(id)))(copyBackup(stack, backupOf(id, files), here, 2))
        mkdirSync(join(stackIn(directory), `${id}0-20260102T030401Z`))
      }
      expect(readdirSync(stackIn(directory)).map((name) => name.replace(/-.*/, "")).toSorted()).toEqual([
        "1",
        "3",
        "4",
        "40"
      ])
    }).pipe(Effect.scoped))

  it.effect("bring back a backup under its number, or the next one where another has it", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const files = { database: "rows" }
      const lostOne = backupOf(3, files)
      yield* within(directory, answers(files, "3"))(copyBackup(stack, lostOne, here, 5))
      const bringing = (backups: ReadonlyArray<RemoteBackup>, wanted: string, id: string) =>
        within(directory, {
          "listing the copies of backups": { stdout: "rest\nfree\t1000\n" },
          [`writing database.gz of backup ${id}`]: {},
          [`reading backup ${id}`]: { stdout: "whole\tdatabase\n" },
          [`keeping the copy of backup ${id}`]: {}
        })(Effect.gen(function*() {
          const { lost: [lost] } = yield* readCopies(stack, { backups }, here)
          expect(lost?.backup.id).toBe(wanted)
          if (lost === undefined) return
          expect(yield* bringBack(stack, { backups }, lost)).toBe(id)
          const asked = yield* yield* SshAsked
          expect(asked.find(({ what }) => what.startsWith("writing"))?.input.toString()).toBe("rows")
          expect(asked.at(-1)?.stdin).toBe([...lostOne.manifest, "end", ""].join("\n"))
        }))
      yield* bringing([], "3", "3")
      yield* bringing([backupOf(4, {}), backupOf(3, {}, "2026-02-03T04:05:06Z")], "3-20260102T030403Z", "5")
    }).pipe(Effect.scoped))

  it.effect("say which place cannot be read or has no room", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const vault: ReadonlyArray<BackupCopy> = [{ to: "server", server: "Main", path: "~/kept" }, {
        to: "server",
        server: "vualt",
        path: "~/kept"
      }]
      const replies = {
        ...answers({}),
        "listing the copies of backups": [{ stdout: "rest\nfree\t1\n" }, { code: 1, stderr: "Permission denied" }]
      }
      yield* within(directory, replies)(Effect.gen(function*() {
        const { failures } = yield* copyBackup(stack, backupOf(1, { database: "x".repeat(2000) }), vault, 5)
        expect(failures).toEqual([
          "Main: it needs 2.0 kB, and 1.0 kB are free there",
          expect.stringMatching(/^vualt: .*vualt/)
        ])
        const { warnings } = yield* readCopies(stack, { backups: [] }, vault)
        expect(warnings).toEqual([
          expect.stringMatching(/^Its copies could not be read: Main: .*Permission denied/),
          expect.stringMatching(/^Its copies could not be read: vualt: /)
        ])
      }))
    }).pipe(Effect.scoped))

  it("keep the last copy of each item", () => {
    const copies = [["a"], ["a"], ["a", "b"], ["a", "b"]].map((names, index) => ({
      name: String(index),
      backup: { items: names.map((name) => ({ name, bytes: 1, sha256: "" })) }
    }))
    expect([1, 2, 4].map((keep) => listOutdated(copies, keep))).toEqual([["1", "3"], ["3"], []])
  })

  it.each([
    ["", ["missing", "missing"], false],
    ["absent\n", ["missing", "missing"], false],
    ["whole\ta\n", ["whole", "missing"], false],
    ["whole\ta\nchanged\tb\n", ["whole", "changed"], false],
    ["whole\tb\nwhole\ta\nwhole\tc\n", ["whole", "whole"], true]
  ])("are whole only where each item is told to be: %j", (output, states, whole) => {
    const items = ["a", "b"].map((name) => ({ name, bytes: 1, sha256: "" }))
    const verified = parseVerified(output, items)
    expect([verified.items.map(({ state }) => state), verified.whole]).toEqual([states, whole])
  })

  it("have no path of a server's words", () => {
    const hostile = ["../../x", "a/b", "", ".", "$(id)"].map((name) => `data\t${name}\t${name}\t1\tabc\t1`)
    expect(parseManifest("1", [...hostile, "data\tgood\t../good\t1\tabc\t1"]).items.map(({ name }) => name)).toEqual([
      "good"
    ])
  })

  it.effect("have the places that a project of this machine names, and not those of the server", () =>
    Effect.gen(function*() {
      const copies: ReadonlyArray<BackupCopy> = [{ to: "restic", repository: "rest:https://ann:secret@example.com/" }]
      const items = { database: { kind: "postgres" as const, service: "db" } }
      expect(formatDefinition({ items, copies })).toBe(
        "{\"copies\":[{\"to\":\"here\"}],\"items\":{\"database\":{\"kind\":\"postgres\",\"service\":\"db\"}}}"
      )
      const find = (path: string, container: object) =>
        findCopies({ ...stack, remotePath: path }).pipe(Effect.provide(
          Layer.mergeAll(
            Path.layer,
            settingsTest({ "projects.root": "/srv" }, [stack.server]),
            localFilesTest({
              "/srv/shop/container.json": JSON.stringify(container),
              "/srv/shop/compose.yml": "services: {}\n"
            })
          )
        ))
      const backups = { items, copies }
      expect(yield* find("~/shop", { serverId: "Main", remotePath: "~/shop", backups })).toEqual(copies)
      expect(yield* find("/home/deployer/shop", { serverId: "main", remotePath: "~/shop", backups })).toEqual(copies)
      expect(yield* find("~/other", { serverId: "main", remotePath: "~/shop", backups })).toEqual([])
      const production = { server: "main", remotePath: "~/live", backups }
      expect(yield* find("~/live", { environments: { production } })).toEqual(copies)
    }))

  const repositories: ReadonlyArray<readonly [written: string, reason: string]> = [
    [
      "${env:REPOSITORY}",
      "restic: the environment variable REPOSITORY of this service is not set, which repository names"
    ],
    ["rest:http://evil.example/${env:TOKEN}", "restic: repository takes ${env:NAME} only as a whole"],
    ["sftp:-oProxyCommand=touch:/x", "restic: repository must not begin with a hyphen"],
    ["sftp://-oProxyCommand=touch/x", "restic: repository must not begin with a hyphen"],
    ["--password-command=touch", "restic: repository must not begin with a hyphen"],
    ["/srv/repository", "restic: Cannot run restic: it is not installed"]
  ]
  it.effect.each(repositories)("are not kept in the repository %s", ([repository, reason]) =>
    Effect.gen(function*() {
      const { warnings } = yield* within("/nowhere", {})(
        readCopies(stack, { backups: [] }, [{ to: "restic", repository }])
      )
      expect(warnings).toEqual([`Its copies could not be read: ${reason}`])
    }).pipe(Effect.withConfigProvider(ConfigProvider.fromMap(new Map([["TOKEN", "hunter2"]])))))
})

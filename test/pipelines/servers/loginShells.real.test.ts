import { NodeContext } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Either, Layer, Redacted, Stream } from "effect"
import { spawnSync } from "node:child_process"
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { deploy } from "../../../src/pipelines/deploy/deploy.ts"
import { planContainers } from "../../../src/pipelines/deploy/plan.ts"
import { findContainer } from "../../../src/pipelines/exec.ts"
import { testServer } from "../../../src/pipelines/health/testServer.ts"
import { rollback } from "../../../src/pipelines/releases/rollback.ts"
import { listContainers } from "../../../src/pipelines/servers/servers.ts"
import { FirstContactLive } from "../../../src/services/ssh/FirstContact.ts"
import { Sftp } from "../../../src/services/ssh/Sftp.ts"
import { Ssh } from "../../../src/services/ssh/Ssh.ts"
import { settingsTest } from "../../../src/testing/SettingsTest.ts"
import { hostKeysTest } from "../../../src/testing/SshTest.ts"
import { berth, project, realServer } from "../../fixtures/docker/realProject.ts"
import { type SshUser, startSshd } from "../../fixtures/network/openssh.ts"
import { patience } from "../../fixtures/patience.ts"

const isHere = (path: string) => existsSync(path)
const contact = Layer.mergeAll(
  Layer.provideMerge(FirstContactLive, hostKeysTest()),
  settingsTest({}),
  NodeContext.layer
)

/** The test of a server whose host key is confirmed at once. */
const tested = (user: SshUser) =>
  Effect.gen(function*() {
    const { host, name, port, username } = user.access()
    const input = { name, host, port, username, password: Redacted.make(user.password) }
    const { hostKey } = yield* testServer(input)
    return yield* testServer({ ...input, hostKey: hostKey?.fingerprint ?? null })
  }).pipe(Effect.provide(contact))

const greeting = "echo 'Welcome! | all\tuse is logged'"

/** Writes a start file of a user. */
const put = (user: SshUser, name: string, text: string) => {
  mkdirSync(dirname(join(user.home, name)), { recursive: true })
  writeFileSync(join(user.home, name), `${text}\n`)
  spawnSync("chown", ["-R", `${user.name}:`, user.home])
}

/** Users as people have them: their login shells, what start files print, and whether Berth can deploy there. */
const users = [
  { shell: "/usr/bin/fish", file: ".config/fish/config.fish", text: "echo Welcome", isReady: false },
  { shell: "/bin/bash", file: ".bashrc", text: `${greeting}\n${greeting} >&2`, isReady: false },
  { shell: "/bin/bash", file: ".bashrc", text: `case $- in *i*) ;; *) return ;; esac\n${greeting}`, isReady: true },
  { shell: "/bin/tcsh", file: ".cshrc", text: "set histchars = \"!^\"", isReady: true },
  { shell: "/usr/bin/zsh", file: ".zshenv", text: "setopt EXTENDED_GLOB NULL_GLOB", isReady: true },
  { shell: "/bin/mksh", file: ".mkshrc", text: "", isReady: true },
  { shell: "/usr/sbin/nologin", file: ".profile", text: "", isReady: false },
  { shell: "/bin/sh", file: ".profile", text: "", mode: 0o555, isReady: false }
].filter(({ shell }) => isHere(shell))

describe.skipIf(!realServer.available)(
  realServer.title("servers as people have them"),
  { timeout: 240_000 * patience },
  () => {
    it.scopedLive("are called ready exactly where commands, locks and file transfer work", () =>
      Effect.gen(function*() {
        const sshd = yield* startSshd({ config: ["Subsystem sftp /usr/lib/openssh/sftp-server"] })
        yield* Effect.forEach(users, ({ file, isReady, mode = 0o755, shell, text }) =>
          Effect.gen(function*() {
            const user = yield* sshd.makeUser({ shell, groups: ["docker"] })
            put(user, file, text)
            if (mode !== 0o755) spawnSync("chown", ["root", user.home])
            chmodSync(user.home, mode)
            const test = yield* tested(user)
            expect(test.ready, `${shell} ${JSON.stringify(test)}`).toBe(isReady)
            if (shell.endsWith("nologin")) {
              expect(test.docker.detail).toMatch(/login shell .* started no command .*currently not available/)
            } else expect(test.docker.ok).toBe(true)
            expect(readdirSync(user.home).filter((name) => name.startsWith(".berth"))).toEqual([])
            const server = user.access(undefined, { name: "Main" })
            if (shell.endsWith("nologin")) {
              const silent = { what: "following", script: "cat", args: [], sudo: false, pool: "followers" as const }
              const failure = yield* Effect.flatMap(Ssh, ({ spawn }) => spawn(server, silent)).pipe(
                Effect.flatMap(({ stdout }) => Stream.runDrain(stdout)),
                Effect.scoped,
                Effect.flip,
                Effect.provide(berth(server))
              )
              expect(failure).toMatchObject({
                _tag: "LoginShellFailed",
                words: expect.stringContaining("not available")
              })
            }
            const works = yield* Effect.gen(function*() {
              yield* (yield* (yield* Sftp).session(server)).stat("/")
              const containers = yield* listContainers(server.id, { all: true })
              expect(containers.filter(({ name }) => name.includes("Welcome"))).toEqual([])
              yield* (yield* (yield* Sftp).session(server)).writePrivate("own", new Uint8Array(1))
            }).pipe(Effect.scoped, Effect.provide(berth(server)), Effect.either)
            expect(Either.isRight(works), `${shell} ${JSON.stringify(works)}`).toBe(isReady)
          }), { concurrency: 2 })
      }))

    it.scopedLive(
      "take deploys of users of fish, with a greeting, a single session and a narrow PATH of sudo",
      () =>
        Effect.gen(function*() {
          const sshd = yield* startSshd({ maxSessions: 1 })
          const user = yield* sshd.makeUser({
            shell: isHere("/usr/bin/fish") ? "/usr/bin/fish" : "/bin/sh",
            sudo: "password"
          })
          put(user, ".config/fish/config.fish", `${greeting}\n${greeting} >&2`)
          // All programs but docker-compose, which /usr/local/bin or the like has.
          const programs = join(sshd.directory, "programs")
          spawnSync("cp", ["-as", "/usr/bin", programs])
          rmSync(join(programs, "docker-compose"), { force: true })
          writeFileSync(`/etc/sudoers.d/${user.name}`, `Defaults:${user.name} secure_path = "${programs}"\n`, {
            flag: "a"
          })
          const server = user.access(undefined, { name: "Main", useSudo: true })
          const { answer, build, directory, name } = yield* project
          const request = { projectPath: directory, serverId: server.id, remotePath: `~/containers/${name}` }
          yield* Effect.gen(function*() {
            yield* build("one")
            expect((yield* planContainers(request)).obstacles).toEqual([])
            expect(yield* deploy(request)).toMatchObject({ healthy: true })
            expect(yield* answer).toBe("one")
            yield* build("two")
            expect(yield* deploy(request)).toMatchObject({ healthy: true })
            expect(yield* answer).toBe("two")
            expect(yield* findContainer({ server, remotePath: request.remotePath }, "web")).toMatchObject({
              service: "web"
            })
            expect(yield* rollback({ serverId: server.id, remotePath: request.remotePath })).toMatchObject({
              healthy: true
            })
            expect(yield* answer).toBe("one")
          }).pipe(Effect.provide(berth(server)))
        })
    )
  }
)

import { describe, expect, it } from "@effect/vitest"
import { Context, Effect, Fiber, Layer, Stream } from "effect"
import { readdir, stat } from "node:fs/promises"
import { join } from "node:path"
import { acquireDeployLock } from "../../src/pipelines/activation/activate.ts"
import { deployLockCommand } from "../../src/remote/deploy.ts"
import type { ServerAccess } from "../../src/schema/ssh.ts"
import { Instance, InstanceLive } from "../../src/services/runs/Runs.ts"
import { execute, Ssh } from "../../src/services/ssh/Ssh.ts"
import { realSsh, startSshd } from "../fixtures/network/openssh.ts"
import { sshdWorld, sshdWorlds, worlds } from "../fixtures/network/servers.ts"
import { programDirectory } from "../fixtures/programs/rootsPrograms.ts"
import { eventually } from "../sandbox/eventually.ts"
import { command, liveSsh } from "../services/ssh/live.ts"

const path = "~/containers/app"
const live = Layer.merge(liveSsh(), Layer.fresh(InstanceLive))

/** Takes the lock with a connection of its own, in words of its own, and says nothing more. */
const takenOver = (access: ServerAccess, ssh: typeof Ssh.Service, holder: string) =>
  Effect.gen(function*() {
    const process = yield* ssh.spawn(access, deployLockCommand(path, holder))
    expect(yield* Stream.runHead(Stream.splitLines(Stream.decodeText(process.stdout)))).toMatchObject({
      value: expect.stringMatching(/^held\t/)
    })
    return process
  })

/** Connections of another Berth. */
const elsewhere = Effect.map(Layer.build(liveSsh()), Context.get(Ssh))

describe.each(worlds)("the lock of a remote path on $name", ({ available, server: start }) => {
  it.scopedLive.skipIf(!available)("is taken from a connection that this process lost", () =>
    Effect.gen(function*() {
      const { access, home } = yield* start()
      const { id } = yield* Instance
      const lost = yield* elsewhere
      const holder = yield* takenOver(access, lost, `${id}/earlier\tme, since noon`)
      const beside = yield* lost.spawn(access, command("echo up; cat"))
      yield* Stream.runHead(beside.stdout)
      yield* acquireDeployLock({ server: access, remotePath: path })
      expect(yield* Effect.exit(holder.exit)).not.toMatchObject({ value: 0 })
      // Of the sandbox's server, which is this very process, nothing is ended but the holder.
      if (start === sshdWorld.server) expect(yield* Effect.flip(beside.exit)).toMatchObject({ _tag: "ConnectionLost" })
      expect(yield* Effect.promise(() => readdir(join(home, "containers", "app", ".berth")))).toContain("holder")
    }).pipe(Effect.provide(live)))

  it.scopedLive.skipIf(!available)(
    "makes a directory that is private whatever the umask",
    () =>
      Effect.gen(function*() {
        const { access, home } = yield* start()
        const directory = join(home, "containers", "new", ".berth")
        const modeOf = (file: string) => Effect.map(Effect.promise(() => stat(file)), ({ mode }) => mode & 0o777)
        yield* acquireDeployLock({ server: access, remotePath: "~/containers/new" })
        expect(yield* modeOf(directory)).toBe(0o700)
        // As an earlier version made it.
        const earlier = join(home, "containers", "earlier", ".berth")
        yield* execute(access, command("mkdir -p ~/containers/earlier/.berth && chmod 755 ~/containers/earlier/.berth"))
        expect(yield* modeOf(earlier)).toBe(0o755)
        yield* acquireDeployLock({ server: access, remotePath: "~/containers/earlier" })
        expect(yield* modeOf(earlier)).toBe(0o750)
      }).pipe(Effect.provide(live))
  )

  it.scopedLive.skipIf(!available)(
    "is left to another process, and waited for behind this one",
    () =>
      Effect.gen(function*() {
        const { access } = yield* start()
        const lost = yield* elsewhere
        yield* Effect.scoped(Effect.gen(function*() {
          yield* takenOver(access, lost, "another/one\tsomebody, since noon")
          expect(yield* Effect.flip(acquireDeployLock({ server: access, remotePath: path }))).toMatchObject({
            _tag: "DeployLocked",
            holder: "somebody, since noon"
          })
        }))
        const second = yield* Effect.scoped(Effect.gen(function*() {
          yield* acquireDeployLock({ server: access, remotePath: path })
          const second = yield* Effect.forkDaemon(
            Effect.scoped(acquireDeployLock({ server: access, remotePath: "~/containers/./app" }))
          )
          yield* Effect.sleep("1 second")
          expect(second.unsafePoll()).toBeNull()
          return second
        }))
        yield* Fiber.join(second)
      }).pipe(Effect.provide(live))
  )
})

describe.skipIf(!realSsh.available).each(sshdWorlds)("the lock of a remote path and its holder, on $name", () => {
  it.scopedLive("is free again when its holder says nothing any more, whose connection ends then", () =>
    Effect.gen(function*() {
      // Three minutes pass in one second.
      const programs = yield* programDirectory({
        timeout: "[ \"$1\" = 180 ] || exit 1\nshift\nexec /usr/bin/timeout 1 \"$@\""
      })
      const sshd = yield* startSshd({ config: [`SetEnv PATH=${programs}:/usr/bin:/bin`] })
      const access = (yield* sshd.makeUser()).access()
      const ssh = yield* Ssh
      const process = yield* takenOver(access, ssh, "another/one\tsomebody")
      expect(yield* Effect.flip(process.exit)).toMatchObject({ _tag: "ConnectionLost" })
      yield* eventually(Effect.isSuccess(Effect.scoped(acquireDeployLock({ server: access, remotePath: path }))))
    }).pipe(Effect.provide(live)))

  it.scopedLive("stays with a holder that says something, and its connection with it", () =>
    Effect.gen(function*() {
      const sshd = yield* startSshd()
      const access = (yield* sshd.makeUser()).access()
      const ssh = yield* Ssh
      const other = yield* Layer.build(Layer.fresh(InstanceLive))
      yield* Effect.scoped(acquireDeployLock({ server: access, remotePath: path }))
      yield* Effect.scoped(Effect.gen(function*() {
        yield* acquireDeployLock({ server: access, remotePath: path })
        const refused = yield* Effect.flip(
          acquireDeployLock({ server: access, remotePath: path }).pipe(Effect.provide(other))
        )
        expect(refused._tag).toBe("DeployLocked")
      }))
      expect((yield* ssh.exec(access, command("echo still"))).stdout).toBe("still\n")
      expect((yield* sshd.children).length).toBe(1)
    }).pipe(Effect.provide(live)))
})

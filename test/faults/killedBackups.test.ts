import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync, readdirSync, symlinkSync } from "node:fs"
import { dirname, join } from "node:path"
import { stringify } from "yaml"
import { startBerth } from "../fixtures/berthProcess.ts"
import { buildDatabaseImage, databaseProject, realDatabases } from "../fixtures/docker/databaseProject.ts"
import { realServer } from "../fixtures/docker/realProject.ts"
import { run, startSshd } from "../fixtures/network/openssh.ts"
import { openRelay } from "../fixtures/network/relay.ts"
import { patience } from "../fixtures/patience.ts"
import { settingsFileWith } from "../fixtures/programs/service.ts"
import { temporaryDirectory } from "../layers/temporary.ts"
import { eventually } from "../sandbox/eventually.ts"
import { requestTo } from "../sandbox/request.ts"

const json = { "content-type": "application/json" }
const megabytes = 12

/** Names in the only directory below one that may not be there yet. */
const namesIn = (root: string): ReadonlyArray<string> => {
  const [stack] = existsSync(root) ? readdirSync(root) : []
  return stack === undefined ? [] : readdirSync(join(root, stack)).map((name) => join(root, stack, name))
}
const isHalf = (copy: string) => !existsSync(join(copy, "manifest"))

const available = realServer.available && realDatabases.available

describe.skipIf(!available)(realServer.title("backups of a service that is killed"), {
  timeout: 300_000 * patience
}, () => {
  it.scopedLive("leave nothing stopped, and list no half of one at any place", () =>
    Effect.gen(function*() {
      const sshd = yield* startSshd()
      const [line, slow] = [
        yield* openRelay(sshd.port),
        yield* openRelay(sshd.port, { upBytesPerSecond: megabytes * 500_000 })
      ]
      const [user, keeper] = [yield* sshd.makeUser({ groups: ["docker"] }), yield* sshd.makeUser()]
      const root = yield* temporaryDirectory
      const access = ({ name, password }: typeof user) => ({ host: "127.0.0.1", username: name, password })
      const settings = yield* settingsFileWith(stringify({
        deploy: { healthTimeout: "20 seconds", healthInterval: "200 millis" },
        projects: { root },
        servers: [
          { id: "main", name: "Main", port: line.port, ...access(user) },
          { id: "vault", name: "vault", port: slow.port, ...access(keeper) }
        ]
      }))
      const made = yield* databaseProject({ image: yield* buildDatabaseImage, backups: { items: {} } })
      const target = { serverId: "main", remotePath: `~/containers/${made.name}` }
      yield* made.declare({
        items: { uploads: { volume: "uploads", stop: ["web"] } },
        copies: [{ to: "server", server: "vault", path: "~/kept" }, { to: "here" }]
      }, target)
      symlinkSync(made.directory, join(root, made.name))
      const remote = join(user.home, "containers", made.name)
      const [there, here] = [join(keeper.home, "kept"), join(dirname(settings), "berth.backups")]
      const isStopped = Effect.sync(() => existsSync(join(remote, ".berth/stopped")))

      let berth = yield* startBerth(settings)
      const ask = (method: string, path: string, body?: unknown, more = {}) =>
        Effect.suspend(() => requestTo(berth.url, { ...json, ...more })(method, path, body))
      const begin = (path: string, body: object) =>
        Effect.map(
          ask("POST", `/api/container/${path}`, body, { prefer: "respond-async" }),
          ({ body }) => String(body["id"])
        )
      const restart = Effect.gen(function*() {
        yield* berth.kill("SIGKILL")
        yield* berth.ended
        berth = yield* startBerth(settings)
      })
      const list = Effect.map(
        ask("GET", `/api/servers/main/backups?remotePath=${encodeURIComponent(target.remotePath)}`),
        ({ body }): ReadonlyArray<Record<string, unknown>> => JSON.parse(JSON.stringify(body["backups"]))
      )
      const ended = (id: string) =>
        eventually(
          Effect.map(
            ask("GET", `/api/runs/${id}`),
            ({ body }) => !["queued", "running"].includes(String(body["state"]))
          ),
          `${60 * patience} seconds`
        )
      /** Each backup that is listed is whole on its server and where it is said to be, and no service is stopped. */
      const stands = Effect.gen(function*() {
        // The server holds it to the end of a backup or a restore.
        const isOver = Effect.isSuccess(run("flock", ["-n", join(remote, ".berth/activation"), "true"]))
        yield* eventually(isOver, `${60 * patience} seconds`)
        yield* eventually(Effect.map(isStopped, (is) => !is), `${60 * patience} seconds`)
        yield* eventually(made.isUp("web"))
        for (const { copies, id, onServer } of yield* list) {
          expect(onServer).toBe(true)
          const verified = yield* ask("POST", "/api/container/backup/verify", { ...target, backup: id })
          expect(verified.body).toMatchObject({ whole: true })
          const places = JSON.parse(JSON.stringify(copies)).map(({ to }: { to: string }) => to)
          for (const [to, place] of [["vault", there], ["here", here]] as const) {
            const isThere = namesIn(place).some((copy) => copy.includes(`/${String(id)}-`) && !isHalf(copy))
            expect([id, to, places.includes(to)]).toEqual([id, to, isThere])
          }
        }
      })

      expect((yield* ask("POST", "/api/container/deploy", { projectPath: made.directory, ...target })).body)
        .toMatchObject({ success: true })
      yield* made.within(
        "web",
        "sh",
        "-c",
        `head -c ${megabytes}000000 /dev/urandom >/files/big; echo first >/files/first`
      )

      const holdsHalf = (place: string) => Effect.sync(() => namesIn(place).some(isHalf))
      const moments = [
        ["while services are stopped for it", isStopped],
        ["while it is copied to another server", holdsHalf(there)],
        ["while it is copied here", holdsHalf(here)]
      ] as const
      let taken = 0
      for (const [moment, when] of moments) {
        const id = yield* begin("backup", target)
        yield* eventually(when, `${60 * patience} seconds`).pipe(
          Effect.mapError(() => new Error(`it never was ${moment}`))
        )
        yield* restart
        yield* ended(id)
        yield* stands
        // The server has finished each by itself.
        taken += 1
        expect([moment, (yield* list)[0]?.["id"]]).toEqual([moment, String(taken)])
      }
      // Its service is up while it is on its slow way.
      const copied = yield* begin("backup", target)
      yield* eventually(holdsHalf(there), `${60 * patience} seconds`)
      expect([yield* isStopped, yield* made.isUp("web")]).toEqual([false, true])
      yield* ended(copied)
      taken += 1
      // The connection breaks while services are stopped.
      const cut = yield* begin("backup", target)
      yield* eventually(isStopped)
      yield* line.cut
      yield* ended(cut)
      yield* stands
      expect((yield* list)[0]?.["id"]).toBe(String(taken + 1))

      const whole = yield* ask("POST", "/api/container/backup", target)
      expect([whole.status, whole.body["success"]]).toEqual([200, true])
      yield* stands
      const newest = String(whole.body["backup"])
      expect((yield* list)[0]).toMatchObject({
        id: newest,
        copies: [{ to: "vault", verified: true }, { to: "here", verified: true }]
      })
      // Copies that were left half-way are gone.
      expect([...namesIn(there), ...namesIn(here)].filter(isHalf)).toEqual([])

      // A restore goes on to its end or leads back, on the server.
      yield* made.within("web", "sh", "-c", "echo later >/files/later; rm /files/first")
      const restoring = yield* begin("restore", { ...target, backup: newest })
      yield* eventually(isStopped)
      yield* restart
      yield* ended(restoring)
      yield* stands
      expect(["first", "later"]).toContain(
        (yield* made.within("web", "sh", "-c", "cd /files && ls -d first later 2>/dev/null; :")).trim()
      )
    }))
})

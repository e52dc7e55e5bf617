import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { executeStackAction } from "../../../src/pipelines/stacks.ts"
import { scene } from "../../fixtures/docker/deployScene.ts"
import { patience } from "../../fixtures/patience.ts"
import { eventually } from "../../sandbox/eventually.ts"

// Says something before and after it was hung up, and goes on then.
const waiting = (home: string, docker: string, what: string) =>
  `case " $* " in *" ${what} "*)
  : >'${home}/begun-${what}'; echo one; while [ ! -e '${home}/go-${what}' ]; do sleep 0.05; done; echo two; echo two >&2 ;;
esac
exec '${docker}' "$@"`

describe.each([false, true])("a server that hangs up (sudo: %s)", (sudo) => {
  it.scopedLive("carries through what it was told to start or to stop", () =>
    Effect.gen(function*() {
      const { archive, berth, bring, deployed, docker, home, program, remote, ssh, standIns } = yield* scene({ sudo })
      const cutIn = <A, E>(what: string, run: Effect.Effect<A, E>) =>
        Effect.gen(function*() {
          yield* program("docker", waiting(home, join(standIns.bin, "docker"), what))
          const running = yield* Effect.fork(run)
          yield* eventually(Effect.sync(() => existsSync(join(home, `begun-${what}`))))
          yield* ssh.cutConnections
          yield* Effect.sleep("300 millis")
          writeFileSync(join(home, `go-${what}`), "")
          yield* Fiber.await(running)
        })
      yield* bring(archive("one"))
      yield* cutIn("up", deployed)
      const outcome = () => readFileSync(join(remote, ".berth/outcome"), "utf8")
      yield* eventually(Effect.sync(() => !outcome().includes("\tbegun\n")))
      expect(outcome()).toMatch(/\tstarted/)
      const state = docker("inspect", "--format", "{{.State.Status}}", "shop-web-1")
      yield* eventually(Effect.map(state, (is) => is === "running"))

      const stop = Effect.provide(executeStackAction("stop", { serverId: "1", remotePath: "~/containers/shop" }), berth)
      yield* cutIn("stop", stop)
      yield* eventually(Effect.map(state, (is) => is === "exited"))
    }), 60_000 * patience)
})

import { describe, expect, it } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import { TooManyFollowers } from "../../../src/schema/ssh.ts"
import { CurrentCaller } from "../../../src/services/access/Caller.ts"
import { capacity } from "../../../src/services/limits.ts"
import { Ssh } from "../../../src/services/ssh/Ssh.ts"
import { worlds } from "../../fixtures/network/servers.ts"
import { patience } from "../../fixtures/patience.ts"
import { command, liveSsh } from "./live.ts"

const following = command("cat", { pool: "followers" })
const inContainer = command("cat", { pool: "commands" })
const { all, each } = capacity.followers

const as = (name: string) => Effect.provideService(CurrentCaller, { name, role: "viewer" })

describe.skipIf(worlds.every(({ available }) => !available)).each(worlds)(
  "commands that stay open on $name",
  (world) => {
    it.scopedLive(
      "take no channel from work or from each other, and are told when there are too many of them",
      () =>
        Effect.gen(function*() {
          const { access } = yield* world.server()
          const { exec, spawn } = yield* Ssh
          const start = (scope: Scope.Scope, what = following) => Scope.extend(spawn(access, what), scope)
          const openAs = (name: string, count: number, what = following) =>
            Effect.forEach(
              Array.from({ length: count }),
              () => Effect.tap(Scope.make(), (scope) => as(name)(start(scope, what)))
            )
          const refusal = (name: string, what = following) =>
            Effect.flip(Effect.scoped(spawn(access, what))).pipe(as(name))

          // One caller gets half of the places, and no more.
          const [first, ...rest] = yield* openAs("ann", each)
          const own = yield* refusal("ann")
          expect(own).toBeInstanceOf(TooManyFollowers)
          expect(own).toMatchObject({ status: 429, caller: "ann", most: each })
          expect(own.message).toMatch(/^8 logs of ".+" are being followed already by "ann", which is as many as one/)
          const others = yield* openAs("bob", all - each)
          const full = yield* refusal("cem")
          expect(full.message).toMatch(/^16 logs of ".+" are being followed already, which is as many as can be/)

          // They hold more channels than work has, and none of the commands'.
          const work = yield* Effect.all(
            Array.from({ length: 4 }, () => exec(access, command("echo done"))),
            { concurrency: "unbounded" }
          ).pipe(Effect.timeout("20 seconds"))
          expect(work.map(({ stdout }) => stdout)).toEqual(Array.from({ length: 4 }, () => "done\n"))
          const commands = yield* openAs("ann", each, inContainer)
          expect((yield* refusal("ann", inContainer)).message).toMatch(
            /^8 commands run in containers of ".+" already by "ann", .* Nothing was started: end one of them$/
          )
          const cem = yield* openAs("cem", 1, inContainer)

          for (const scope of first === undefined ? [] : [first]) yield* Scope.close(scope, Exit.void)
          yield* as("cem")(Effect.scoped(spawn(access, following)).pipe(Effect.timeout("20 seconds")))
          yield* Effect.forEach([...rest, ...others, ...commands, ...cem], (scope) => Scope.close(scope, Exit.void), {
            concurrency: "unbounded"
          })
        }).pipe(Effect.provide(liveSsh())),
      60_000 * patience
    )
  }
)

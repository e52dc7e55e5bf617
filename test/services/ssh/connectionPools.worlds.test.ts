import { describe, expect, it } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import { TooManyFollowers } from "../../../src/schema/servers/Ssh.ts"
import { Ssh } from "../../../src/services/ssh/Ssh.ts"
import { worlds } from "../../fixtures/network/servers.ts"
import { command, liveSsh } from "./live.ts"

const following = command("cat", { pool: "followers" })
const most = 8

describe.skipIf(worlds.every(({ available }) => !available)).each(worlds)(
  "commands that stay open on $name",
  (world) => {
    it.scopedLive(
      "take no channel from work, and are told when there are too many of them",
      () =>
        Effect.gen(function*() {
          const { access } = yield* world.server()
          const { exec, spawn } = yield* Ssh
          const scopes = yield* Effect.forEach(Array.from({ length: most }), () => Scope.make())
          yield* Effect.forEach(scopes, (scope) => Scope.extend(spawn(access, following), scope))
          // They hold more channels than work has.
          const work = yield* Effect.all(
            Array.from({ length: 4 }, () => exec(access, command("echo done"))),
            { concurrency: "unbounded" }
          ).pipe(Effect.timeout("20 seconds"))
          expect(work.map(({ stdout }) => stdout)).toEqual(Array.from({ length: 4 }, () => "done\n"))

          const refused = yield* Effect.flip(Effect.scoped(spawn(access, following)))
          expect(refused).toBeInstanceOf(TooManyFollowers)
          expect(refused).toMatchObject({ status: 429 })
          expect(refused.message).toMatch(/^8 logs of ".+" are being followed already/)

          for (const scope of scopes.slice(0, 1)) yield* Scope.close(scope, Exit.void)
          yield* Effect.scoped(spawn(access, following)).pipe(Effect.timeout("20 seconds"))
          for (const scope of scopes.slice(1)) yield* Scope.close(scope, Exit.void)
        }).pipe(Effect.provide(liveSsh())),
      60_000
    )
  }
)

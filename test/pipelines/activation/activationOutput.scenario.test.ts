import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, Redacted } from "effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { scene } from "../../fixtures/docker/deployScene.ts"
import { patience } from "../../fixtures/patience.ts"
import { newestOutput } from "../../fixtures/runs/newestOutput.ts"
import { shells } from "../../layers/RemoteHere.ts"
import { eventually } from "../../sandbox/eventually.ts"

// Each waits until it is let go, after it has written a line in two pieces.
const waiting = `waits() {
  printf 'canary-of-'; sleep 0.1; echo "the-platform: $1"
  while [ ! -e "$HOME/$1" ]; do sleep 0.02; done
}
case $* in load*) waits load ;; "compose -f compose.yml up -d") waits up; echo 'time=x level=warning msg="mind this"' >&2 ;; esac
exec "$STAND_INS/docker" "$@"`

describe.each(shells)("what docker load and compose write on a server, in $name", (shell) => {
  it.scopedLive("is told while they run, and without secrets", () =>
    Effect.gen(function*() {
      const { archive, berth, bring, deployed, home, program } = yield* scene({
        shell: shell.path,
        settings: { "platform.token": Redacted.make("canary-of-the-platform") }
      })
      yield* bring(archive("one"))
      yield* program("docker", waiting)
      const told = (words: string) =>
        eventually(Effect.map(Effect.provide(newestOutput, berth), (all) => all.includes(words)))
      const deploying = yield* Effect.fork(deployed)
      yield* told("***: load\n")
      writeFileSync(join(home, "load"), "")
      yield* told("***: up\n")
      expect(deploying.unsafePoll()).toBeNull()
      writeFileSync(join(home, "up"), "")
      const { message } = yield* Fiber.join(deploying)
      expect(message).toContain("Compose warns: mind this.")
      const all = yield* Effect.provide(newestOutput, berth)
      expect(all).toMatch(/^\*\*\*: load\nLoaded image: [^]*\*\*\*: up\n[^]*Started/m)
      expect(all).not.toContain("canary")
    }), 60_000 * patience)

  it.scopedLive("does not hold them up where it is too much", () =>
    Effect.gen(function*() {
      const { archive, berth, bring, deployed, program } = yield* scene({ shell: shell.path })
      yield* bring(archive("one"))
      yield* program(
        "docker",
        `case $* in *" up -d") seq 4000 >&2; echo no >&2; exit 1 ;; esac\nexec "$STAND_INS/docker" "$@"`
      )
      const { message } = yield* Effect.flip(deployed)
      expect(message).toMatch(/^Deploy failed at start: [^]*\n3999\n4000\nno\. Nothing was running before/)
      const all = yield* Effect.provide(newestOutput, berth)
      expect(all).toMatch(/\n1\n2\n[^]*\n\(more than this is not told\)\n$/)
      expect(all.length).toBeLessThan(120_000)
    }), 60_000 * patience)
})

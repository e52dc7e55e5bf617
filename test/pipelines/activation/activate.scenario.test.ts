import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { readdir, readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { DeployFailed } from "../../../src/schema/deploys.ts"
import { killScript, scene } from "../../fixtures/docker/deployScene.ts"
import { inTurn } from "../../fixtures/thorough.ts"

/** A Docker that does as it should, but for what `when` says: that fails, with these words. */
const failing = (when: string, words: string) =>
  `case $* in ${when}) cat >/dev/null; echo '${words}' >&2; exit 1 ;; esac
exec "$STAND_INS/docker" "$@"`

const up = "\"compose -f compose.yml up -d\""

describe("a deploy that fails says what runs now:", () => {
  it.scopedLive("nothing was changed before the load", () =>
    Effect.gen(function*() {
      const { archive, bring, deployed, directory } = yield* scene()
      yield* bring(archive("one"))
      yield* deployed
      yield* Effect.promise(() => writeFile(join(directory, "compose.yml"), ""))
      expect((yield* Effect.flip(deployed)).message).toBe(
        `Deploy failed at preflight: ${directory}/compose.yml is empty: it needs a \`services:\` section. ` +
          "Nothing on the server was changed"
      )
    }))

  it.scopedLive.each(inTurn([["load*", "load", "still running"], [up, "start", "running again"]] as const, 1))(
    "the previous version, when %s fails",
    ([when, step, state]) =>
      Effect.gen(function*() {
        const { archive, bring, deployed, program, remote } = yield* scene()
        yield* bring(archive("one"))
        yield* deployed
        const once = `[ -e "$HOME/failed" ] || case $* in ${when}) : >"$HOME/failed"; cat >/dev/null; exit 1 ;; esac`
        yield* program("docker", step === "load" ? failing(when, "no way") : `${once}\nexec "$STAND_INS/docker" "$@"`)
        yield* bring(archive("two"))
        const { message } = yield* Effect.flip(deployed)
        expect(message).toMatch(new RegExp(`^Deploy failed at ${step}: [^]*\\. The previous version is ${state}$`))
        // Recovery by a service that was restarted meanwhile.
        expect(yield* Effect.promise(() => readFile(join(remote, ".berth", "outcome"), "utf8"))).toMatch(
          new RegExp(`\tfailed\t${step}\tyes\trunning\n$`)
        )
      })
  )

  it.scopedLive.each(inTurn([["load*", "load"], [up, "start"]] as const, 0))(
    "nothing, as before, when %s of a first deploy fails",
    ([when, step]) =>
      Effect.gen(function*() {
        const { archive, bring, deployed, program } = yield* scene()
        yield* bring(archive("one"))
        yield* program("docker", failing(when, "no way"))
        const { message } = yield* Effect.flip(deployed)
        expect(message).toMatch(
          new RegExp(`^Deploy failed at ${step}: no way\\.[^]* Nothing was running before and nothing is now$`)
        )
      })
  )

  it.scopedLive("what could not be put back", () =>
    Effect.gen(function*() {
      const { archive, bring, deployed, program } = yield* scene()
      yield* bring(archive("one"))
      yield* deployed
      yield* program("docker", failing(up, "no way"))
      yield* bring(archive("two"))
      const { message } = yield* Effect.flip(deployed)
      expect(message).toMatch(/^Deploy failed at start: no way[^]*and what ran before did not start again:\s+no way\. /)
      expect(message).toMatch(
        /it did not start again: docker compose up -d in the remote path on the server starts it$/
      )
    }))

  it.scopedLive("that it is not known, when the script is ended halfway", () =>
    Effect.gen(function*() {
      const { archive, bring, deployed, program } = yield* scene()
      yield* bring(archive("one"))
      yield* program("docker", `case $* in ${up}) ${killScript} ;; esac\nexec "$STAND_INS/docker" "$@"`)
      const { message } = yield* Effect.flip(deployed)
      expect(message).toMatch(/^Deploy failed at start: the server stopped halfway\. What runs there now is unknown/)
      expect(message).toContain(".berth/restore.sh")
    }))
})

describe("an archive that is no good", () => {
  const again = "shop.tar is cut short, or not an image archive: build it again. The previous version is still running"

  it.scopedLive("is named, with what to do about it", () =>
    Effect.gen(function*() {
      const { archive, bring, deployed, directory, remote } = yield* scene()
      yield* bring(archive("one"))
      yield* deployed
      const bytes = archive("two")
      yield* bring(bytes.subarray(0, bytes.length / 2))
      expect((yield* Effect.flip(deployed)).message).toMatch(new RegExp(`^Deploy failed at load: [^]+\\. ${again}$`))
      yield* bring(Buffer.from("random ".repeat(1000)))
      expect((yield* Effect.flip(deployed)).message).toMatch(new RegExp(`^Deploy failed at load: [^]+\\. ${again}$`))
      yield* bring(Buffer.alloc(0))
      const empty = yield* Effect.flip(deployed)
      expect(empty).toMatchObject({ status: 422 })
      expect(empty.message).toBe(
        `Deploy failed at preflight: ${directory}/shop.tar is empty: build it again. Nothing on the server was changed`
      )
      expect(yield* Effect.promise(() => readdir(remote))).not.toContain("shop.tar")
    }))
})

describe("the error of a deploy", () => {
  it.scopedLive("names the service whose image cannot be one, as the project's own fault", () =>
    Effect.gen(function*() {
      const { deployed, directory } = yield* scene()
      yield* Effect.promise(() =>
        writeFile(join(directory, "compose.yml"), "services: { web: { image: \"${NOT_SET}\" } }")
      )
      const failure = yield* Effect.flip(deployed)
      expect(failure.message).toBe(
        `Deploy failed at preflight: ${directory}: the image "" of the service web in compose.yml is not a name of an ` +
          "image: check the variables in it. Nothing on the server was changed"
      )
      expect(failure).toMatchObject({ status: 422 })
    }))

  it("ends the server's words before it says what runs now", () => {
    const message = (reason: string, state?: string) =>
      new DeployFailed({ step: "start", reason, ...state === undefined ? {} : { state } }).message
    expect(message("no way")).toBe("Deploy failed at start: no way")
    expect(message("no way\n", "Nothing runs")).toBe("Deploy failed at start: no way. Nothing runs")
    expect(message("No way!", "Nothing runs")).toBe("Deploy failed at start: No way! Nothing runs")
  })
})

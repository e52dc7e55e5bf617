import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { scene } from "../../../fixtures/docker/deployScene.ts"
import { patience } from "../../../fixtures/patience.ts"
import { shells } from "../../../layers/RemoteHere.ts"

describe.each(shells)("releases, in $name", (shell) => {
  it.scopedLive("are what each deploy leaves: its files, its images and who it was", () =>
    Effect.gen(function*() {
      const { archive, bring, deployed, directory, releases, remote, standIns } = yield* scene({ shell: shell.path })
      expect(yield* releases).toEqual([])
      yield* bring(archive("one"))
      writeFileSync(join(directory, "conf/-big\\one"), "x".repeat(100_000))
      expect(yield* deployed).toMatchObject({ healthy: true, message: expect.not.stringContaining("release") })
      writeFileSync(join(directory, ".env"), "A=2\n")
      yield* bring(archive("two"))
      yield* deployed

      const [second, first, ...others] = yield* releases
      expect(others).toEqual([])
      expect(first).toMatchObject({ id: "1", current: false, available: true, by: expect.stringMatching(/.@./) })
      expect(second).toMatchObject({ id: "2", current: true, available: true })
      expect(Date.parse(second?.at ?? "")).toBeGreaterThanOrEqual(Date.parse(first?.at ?? ""))
      expect(second?.files).toEqual(["compose.yml", ".env", "conf/a b'c", "conf/-big\\one"])
      expect(second?.images).toMatchObject([{
        name: "shop:latest",
        id: expect.stringMatching(/^sha256:[0-9a-f]{64}$/)
      }])
      expect(first?.images[0]?.id).not.toBe(second?.images[0]?.id)

      const at = (name: string) => join(remote, ".berth/releases", name)
      expect(readFileSync(at("1/files/.env"), "utf8")).toBe("A=1\n")
      expect(readFileSync(at("2/files/.env"), "utf8")).toBe("A=2\n")
      expect(statSync(at("2/files/.env")).mode & 0o777).toBe(0o600)
      expect(statSync(at("2/files/conf/-big\\one")).size).toBe(100_000)
      expect(readdirSync(at(".")).toSorted()).toEqual(["1", "2", "last"])
      expect(existsSync(join(remote, ".berth/before"))).toBe(false)

      // Both images have a name of Berth's, though their own now means the second one.
      const tags = readdirSync(join(standIns.env.BERTH_SANDBOX_STATE, "docker/tags"))
      expect(tags.filter((name) => name.startsWith("berth%release:"))).toHaveLength(2)

      const gone = first?.images[0]?.id.replace("sha256:", "") ?? ""
      rmSync(join(standIns.env.BERTH_SANDBOX_STATE, "docker/images", gone), { recursive: true })
      for (const name of tags.filter((name) => name.endsWith(gone.slice(0, 12)))) {
        rmSync(join(standIns.env.BERTH_SANDBOX_STATE, "docker/tags", name))
      }
      expect((yield* releases).map(({ available }) => available)).toEqual([true, false])
    }), 60_000 * patience)
})

describe("a release", () => {
  it.scopedLive("names an image once, and none that was on the server before", () =>
    Effect.gen(function*() {
      const { archive, bring, deployed, docker, home, releases, standIns } = yield* scene()
      const tagged = Effect.map(standIns.dockerCalls, (calls) =>
        calls.map(({ args }) => args.join(" ")).filter((line) => line.includes("berth/release:")))
      writeFileSync(join(home, "own.tar"), archive("of the server itself"))
      yield* docker("load", "-i", join(home, "own.tar"))
      yield* bring(archive("of the server itself"))
      yield* deployed
      expect(yield* tagged).toEqual([])
      yield* bring(archive("brought"))
      yield* deployed
      yield* deployed
      expect(yield* tagged).toEqual([expect.stringMatching(/^tag sha256:\w+ berth\/release:\w{12}-\w{12}$/)])
      expect(yield* releases).toHaveLength(3)
    }), 60_000 * patience)

  it.scopedLive("that cannot be written is told of, and the deploy succeeds", () =>
    Effect.gen(function*() {
      const { archive, bring, deployed, releases, remote } = yield* scene()
      yield* bring(archive("one"))
      yield* deployed
      symlinkSync("/dev/full", join(remote, ".berth/current.new"))
      const { healthy, message, success } = yield* deployed
      expect([success, healthy]).toEqual([true, true])
      expect(message).toMatch(/ It was not kept as a release, .*: .*No space left on device\.$/i)
      expect(yield* releases).toMatchObject([{ id: "1", current: false }])
      rmSync(join(remote, ".berth/current.new"))
      yield* deployed
      expect(yield* releases).toMatchObject([{ id: "3", current: true }, { id: "1", current: false }])
    }), 60_000 * patience)
})

import { describe, expect, it } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { existsSync } from "node:fs"
import { cp, readdir, readFile, utimes, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { base, scene } from "../../fixtures/docker/deployScene.ts"
import { patience } from "../../fixtures/patience.ts"
import { inTurn, slow } from "../../fixtures/thorough.ts"
import { shells } from "../../layers/RemoteHere.ts"
import { eventually } from "../../sandbox/eventually.ts"
const must = <A>(make: () => Promise<A>) => Effect.promise(make)

const kilobytes = (message: string) => /Sent ([\d.]+ [kM]B) of ([\d.]+ [kM]B)/.exec(message)?.slice(1)

/** Names under which a run loaded images, and that it left behind. */
const incomingNames = (state: string) =>
  must(async () => (await readdir(join(state, "docker", "tags"))).filter((name) => name.startsWith("berth%incoming")))

type Form = readonly [layout: "classic" | "oci", pack?: typeof gzipSync]
const forms: ReadonlyArray<Form> = [["oci", gzipSync], ["classic"], ["oci"]]

describe.each(shells)("a deploy in $name", (shell) => {
  for (const [form, pack] of inTurn(forms, 1)) {
    it.scopedLive(
      `sends a ${pack === undefined ? "plain" : "compressed"} ${form} archive whole, then what changed, then nothing`,
      () =>
        Effect.gen(function*() {
          const { archive, asked, bring, deployed, exists, meaning, standIns } = yield* scene({
            shell: shell.path
          })
          const packed = (bytes: Uint8Array) => pack === undefined ? bytes : pack(bytes)
          yield* bring(packed(archive("one", { layout: form })))
          const first = yield* deployed
          expect(first).toMatchObject({ healthy: true, status: "healthy" })
          expect(first.uploadedFiles.toSorted()).toEqual([".env", "compose.yml", "conf/a b'c", "shop.tar"])
          expect(yield* exists("shop.tar")).toBe(false)

          const unchanged = yield* deployed
          expect(unchanged).toMatchObject({ healthy: true, uploadedFiles: [] })
          expect(unchanged.message).toMatch(/Nothing of .* had to be sent/)
          expect(yield* asked).toEqual(["load"])

          // Compressed, there is less in the whole than in a part of it that is not compressed.
          const before = yield* meaning("shop:latest")
          yield* bring(packed(archive("two", { layout: form, layers: [base, { app: "two" }] })))
          const second = yield* deployed
          expect(second.uploadedFiles).toEqual(["shop.tar"])
          expect(yield* meaning("shop:latest")).not.toBe(before)
          if (pack === undefined) {
            expect(kilobytes(second.message)).toEqual([
              expect.stringMatching(/^9\.\d kB$/),
              expect.stringMatching(/^30\d kB$/)
            ])
          }
          expect((yield* standIns.dockerCalls).filter(({ args }) => args[0] === "load")).toHaveLength(2)
        }),
      60_000 * patience
    )
  }
})

// transfer.test.ts covers the decision; not each of its cases needs deploys every time.
describe("what a deploy sends", () => {
  it.scopedLive("goes through sudo too, behind the password", () =>
    Effect.gen(function*() {
      const { archive, bring, deployed, exists, standIns } = yield* scene({ sudo: true })
      yield* standIns.setFlaw("docker-needs-root", true)
      yield* bring(archive("one"))
      yield* deployed
      yield* bring(archive("two"))
      expect(yield* deployed).toMatchObject({ healthy: true, uploadedFiles: ["shop.tar"] })
      expect(yield* exists("shop.tar")).toBe(false)
    }))

  it.scopedLive.runIf(slow)(
    "is everything where the settings say so, and that stays",
    () =>
      Effect.gen(function*() {
        const { archive, bring, deployed, exists } = yield* scene({ settings: { "deploy.transfer": "full" } })
        for (const answer of ["one", "two", "two"]) {
          yield* bring(archive(answer))
          const { message, uploadedFiles } = yield* deployed
          expect(uploadedFiles).toContain("shop.tar")
          expect(kilobytes(message)?.[0]).toMatch(/^30\d kB$/)
          expect(yield* exists("shop.tar")).toBe(true)
        }
      }),
    60_000 * patience
  )

  const versions: ReadonlyArray<readonly [version: string, sent: RegExp]> = [
    ["27.5.1", /^30\d(\.\d)? kB$/],
    ["26.1.5", /^(9\.\d|10) kB$/],
    ["28.5.2", /^(9\.\d|10) kB$/]
  ]
  for (const [version, sent] of inTurn(versions, 1)) {
    it.scopedLive(
      `is what containerd's store of Docker ${version} lacks, or nothing where it has the image`,
      () =>
        Effect.gen(function*() {
          const { archive, asked, bring, deployed, exists, meaning, standIns } = yield* scene()
          yield* standIns.setDockerVersion(version)
          yield* standIns.setStorageDriver("overlayfs")
          for (const [answer, size] of [["one", /^3[01]\d(\.\d)? kB$/], ["two", sent]] as const) {
            yield* bring(archive(answer))
            const { message, uploadedFiles } = yield* deployed
            expect(uploadedFiles).toContain("shop.tar")
            expect(kilobytes(message)?.[0]).toMatch(size)
            expect(yield* exists("shop.tar")).toBe(false)
          }
          const loads = (yield* asked).filter((line) => line.startsWith("load"))
          expect(new Set(loads)).toEqual(new Set([version === "28.5.2" ? "load --platform linux/amd64" : "load"]))
          const before = yield* meaning("shop:latest")
          // The older release is there under a name of Berth's.
          for (const answer of ["two", "one"]) {
            yield* bring(archive(answer))
            const again = yield* deployed
            expect(again).toMatchObject({ healthy: true, uploadedFiles: [] })
            expect(again.message).toMatch(/Nothing of .* had to be sent/)
            expect((yield* meaning("shop:latest")) === before).toBe(answer === "two")
          }
          expect(yield* incomingNames(standIns.env.BERTH_SANDBOX_STATE)).toEqual([])
        }),
      60_000 * patience
    )
  }

  const refusals: ReadonlyArray<readonly [what: string, refused: string]> = [
    [
      "says that it could not unpack it",
      "\"$STAND_INS/docker\" \"$@\"; echo \"Error unpacking image: no such layer\" >&2; exit 0"
    ],
    ["ends with an error", "cat >/dev/null; echo \"no such layer\" >&2; exit 1"],
    ["loads something else", "cat >/dev/null; \"$STAND_INS/docker\" tag shop:latest berth/incoming:$run-1; exit 0"]
  ]
  for (const [what, refused] of inTurn(refusals, 1)) {
    it.scopedLive(`is all of it, under the run's own name until it is proved, where containerd's store ${what}`, () =>
      Effect.gen(function*() {
        const { archive, bring, deployed, home, meaning, program, remote, standIns } = yield* scene()
        yield* standIns.setDockerVersion("28.5.2")
        yield* standIns.setStorageDriver("overlayfs")
        yield* bring(archive("one"))
        yield* deployed
        const before = yield* meaning("shop:latest")
        yield* program(
          "docker",
          `run=$(cut -f 1 ${remote}/.berth/outcome)
if [ "$1" = load ]; then
  "$STAND_INS/docker" image inspect --format '{{.Id}}' shop:latest >>${home}/meanings
  if [ ! -e ${home}/refused ]; then : >${home}/refused; ${refused}; fi
fi
exec "$STAND_INS/docker" "$@"`
        )
        yield* bring(archive("two"))
        const { message } = yield* deployed
        // A part, and then all of it in the same form.
        expect(kilobytes(message)?.[0]).toMatch(/^32\d(\.\d)? kB$/)
        expect(yield* meaning("shop:latest")).not.toBe(before)
        const meanings = (yield* must(() => readFile(join(home, "meanings"), "utf8"))).trim().split("\n")
        expect([meanings.length, new Set(meanings).size]).toEqual([2, 1])
        expect(yield* incomingNames(standIns.env.BERTH_SANDBOX_STATE)).toEqual([])
      }))
  }

  it.scopedLive("is the archive as it is in the end, where containerd's store takes nothing under the run's own name", () =>
    Effect.gen(function*() {
      const { archive, bring, deployed, meaning, program, remote, standIns } = yield* scene()
      yield* standIns.setDockerVersion("28.5.2")
      yield* standIns.setStorageDriver("overlayfs")
      yield* program(
        "docker",
        `case "$*" in "load --platform"*) cat >/dev/null; echo "unknown platform" >&2; exit 1 ;; esac
exec "$STAND_INS/docker" "$@"`
      )
      yield* bring(archive("one"))
      // All layers, and the archive.
      expect(kilobytes((yield* deployed).message)?.[0]).toMatch(/^6[12]\d(\.\d)? kB$/)
      const before = yield* meaning("shop:latest")
      yield* bring(archive("two"))
      // A part before both.
      expect(kilobytes((yield* deployed).message)?.[0]).toMatch(/^6[234]\d(\.\d)? kB$/)
      expect(yield* meaning("shop:latest")).not.toBe(before)
      expect(yield* must(() => readdir(join(remote, ".berth")))).not.toContain("incoming")
      expect(yield* incomingNames(standIns.env.BERTH_SANDBOX_STATE)).toEqual([])
    }))

  const repeated = [
    ["a part of it", "26.1.5", "auto", /^1[89](\.\d)? kB$/],
    ["all of it", "27.5.1", "auto", /^6[01]\d(\.\d)? kB$/],
    ["an uploaded archive", "26.1.5", "full", /^30\d(\.\d)? kB$/]
  ] as const
  it.scopedLive.each(repeated)(
    "is loaded once more, with the files beside it, where containerd clears away what %s is about to use",
    ([, version, mode, size]) =>
      Effect.gen(function*() {
        const { archive, bring, deployed, directory, home, meaning, program, remote, standIns } = yield* scene({
          settings: { "deploy.transfer": mode }
        })
        yield* standIns.setDockerVersion(version)
        yield* standIns.setStorageDriver("overlayfs")
        yield* bring(archive("one"))
        yield* deployed
        const before = yield* meaning("shop:latest")
        yield* must(() => writeFile(join(directory, ".env"), "A=2\n"))
        yield* program(
          "docker",
          `if [ "$1" = load ] && [ ! -e ${home}/refused ]; then
  : >${home}/refused; cat >/dev/null; echo "parent snapshot sha256:1 does not exist: not found" >&2; exit 1
fi
exec "$STAND_INS/docker" "$@"`
        )
        yield* bring(archive("two"))
        expect(kilobytes((yield* deployed).message)?.[0]).toMatch(size)
        expect(yield* meaning("shop:latest")).not.toBe(before)
        expect(yield* must(() => readFile(join(remote, ".env"), "utf8"))).toBe("A=2\n")
      })
  )

  it.scopedLive.runIf(slow)("is all of an archive that is of another form", () =>
    Effect.gen(function*() {
      const { archive, bring, deployed, exists } = yield* scene()
      yield* bring(archive("one"))
      yield* deployed
      // A second end behind the first one, and a manifest that names its image twice.
      yield* bring(archive("two", { name: "shop:latest\",\"-x:latest" }))
      expect((yield* deployed).uploadedFiles).toEqual(["shop.tar"])
      expect(yield* exists("shop.tar")).toBe(true)
    }))

  it.scopedLive("is the whole archive after all when the server does not take a part of it", () =>
    Effect.gen(function*() {
      const { archive, asked, bring, deployed, directory, exists, home, meaning, program } = yield* scene()
      yield* bring(archive("one"))
      yield* deployed
      yield* program(
        "docker",
        `if [ "$1" = load ] && [ ! -e ${home}/refused ]; then : >${home}/refused; cat >/dev/null; echo "no such layer" >&2; exit 1; fi
exec "$STAND_INS/docker" "$@"`
      )
      yield* bring(archive("two"))
      yield* must(() => writeFile(join(directory, ".env"), "A=2\n"))
      const before = yield* meaning("shop:latest")
      const result = yield* deployed
      expect(result).toMatchObject({ healthy: true, uploadedFiles: [".env", "shop.tar"] })
      expect(yield* meaning("shop:latest")).not.toBe(before)
      expect(yield* exists("shop.tar")).toBe(false)
      expect(yield* exists("compose.yml")).toBe(true)
      expect(yield* asked).toContain("load")
    }))

  it.scopedLive.runIf(slow)(
    "is the whole archive after all when an image has vanished since the server was looked at",
    () =>
      Effect.gen(function*() {
        const { archive, bring, deployed, home, program } = yield* scene()
        // The name has to be given back to the image of the first deploy.
        for (const answer of ["one", "two"]) {
          yield* bring(archive(answer))
          yield* deployed
        }
        yield* bring(archive("one"))
        yield* program(
          "docker",
          `if [ "$1" = tag ] && [ ! -e ${home}/gone ]; then : >${home}/gone; echo "Error response from daemon: No such image" >&2; exit 1; fi
exec "$STAND_INS/docker" "$@"`
        )
        expect((yield* deployed).uploadedFiles).toEqual(["shop.tar"])
      })
  )

  it.scopedLive.each(inTurn(["auto", "full"] as const, 0))(
    "does not go live when it is another image than the archive's (%s)",
    (mode) =>
      Effect.gen(function*() {
        const { archive, bring, deployed, exists, meaning, program } = yield* scene({
          settings: { "deploy.transfer": mode }
        })
        yield* bring(archive("one"))
        yield* deployed
        const before = yield* meaning("shop:latest")
        // A server that goes on meaning something else than what it is handed.
        yield* program(
          "docker",
          `old=$("$STAND_INS/docker" image inspect --format '{{.Id}}' shop:latest 2>/dev/null)
"$STAND_INS/docker" "$@" || exit
[ "$1" != load ] || "$STAND_INS/docker" tag "$old" shop:latest`
        )
        yield* bring(archive("new"))
        const failure = yield* Effect.flip(deployed)
        expect(failure.message).toMatch(/^Deploy failed at load: [^]*is not the image of the archive/)
        expect(yield* meaning("shop:latest")).toBe(before)
        expect(yield* exists("shop.tar")).toBe(mode === "full")
      })
  )

  it.scopedLive.each(inTurn(["load", "start"] as const, 1))(
    "brings back on containerd's store what it would forget with its name, when the %s fails",
    (step) =>
      Effect.gen(function*() {
        const { archive, bring, deployed, home, meaning, program, standIns } = yield* scene()
        const docker = join(standIns.env.BERTH_SANDBOX_STATE, "docker")
        const names = async () =>
          (await readdir(join(docker, "tags"))).filter((name) => !name.startsWith("berth%release:"))
        yield* standIns.setStorageDriver("overlayfs")
        yield* bring(archive("one"))
        yield* deployed
        // An image of somebody else.
        yield* must(async () => {
          const id = (await readFile(join(docker, "tags", "shop:latest"), "utf8")).trim()
          await cp(join(docker, "images", id), join(docker, "images", "f".repeat(64)), { recursive: true })
          await writeFile(join(docker, "tags", "other:latest"), "f".repeat(64))
        })
        const before = yield* meaning("shop:latest")
        const ends = step === "load" ? "[ \"$1\" != load ]" : "[ \"$*\" != \"compose -f compose.yml up -d\" ]"
        yield* program(
          "docker",
          `"$STAND_INS/docker" "$@" || exit
${ends} || [ -e ${home}/failed ] || { : >${home}/failed; exit 1; }`
        )
        yield* bring(archive("two"))
        expect((yield* Effect.flip(deployed)).message).toMatch(new RegExp(`^Deploy failed at ${step}: `))
        expect(yield* meaning("shop:latest")).toBe(before)
        expect(yield* must(names)).toEqual(["other:latest", "shop:latest"])

        expect(yield* deployed).toMatchObject({ healthy: true })
        expect(yield* meaning("shop:latest")).not.toBe(before)
        expect(yield* must(names)).toEqual(["other:latest", "shop:latest"])
      }),
    60_000 * patience
  )

  it.scopedLive("leaves names that meant nothing before without a meaning when the load fails", () =>
    Effect.gen(function*() {
      const { archive, bring, deployed, meaning, program, remote } = yield* scene()
      yield* program("docker", `"$STAND_INS/docker" "$@" && [ "$1" != load ]`)
      yield* bring(archive("one"))
      expect((yield* Effect.flip(deployed)).message).toMatch(/^Deploy failed at load: /)
      expect(yield* Effect.sandbox(meaning("shop:latest")).pipe(Effect.isFailure)).toBe(true)
      yield* eventually(Effect.sync(() => !existsSync(remote)))
    }))

  it.scopedLive("is undone by the server itself when the connection breaks in the middle", () =>
    Effect.gen(function*() {
      const { archive, bring, deployed, exists, home, meaning, program, remote, ssh } = yield* scene()
      yield* bring(archive("one"))
      yield* deployed
      const before = yield* meaning("shop:latest")
      yield* program(
        "docker",
        `if [ "$1" = load ]; then : >${home}/loading; cat >/dev/null; while [ ! -e ${home}/cut ]; do sleep 0.1; done; fi
exec "$STAND_INS/docker" "$@" </dev/null`
      )
      yield* bring(archive("two"))
      const cut = Effect.gen(function*() {
        yield* must(() => readFile(join(home, "loading"))).pipe(
          Effect.sandbox,
          Effect.retry({ schedule: Schedule.spaced("50 millis"), times: 200 })
        )
        yield* ssh.cutConnections
        yield* must(() => writeFile(join(home, "cut"), ""))
      })
      const [failure] = yield* Effect.all([Effect.flip(deployed), cut], { concurrency: 2 })
      expect(failure.message).toMatch(/^Deploy failed at load: /)
      yield* exists("compose.yml").pipe(
        Effect.zipWith(
          must(() => readdir(join(remote, ".berth"))),
          (there, names) => there && !names.includes("staged")
        ),
        Effect.filterOrFail((done) => done, () => new Error("the server has not ended what was cut off")),
        Effect.retry({ schedule: Schedule.spaced("50 millis"), times: 400 })
      )
      expect(yield* meaning("shop:latest")).toBe(before)
    }))

  it.scopedLive("removes an archive that somebody put in the place of the one that runs", () =>
    Effect.gen(function*() {
      const { archive, bring, deployed, exists, remote } = yield* scene()
      yield* bring(archive("one"))
      yield* deployed
      yield* must(() => writeFile(join(remote, "shop.tar"), "by hand"))
      expect((yield* deployed).uploadedFiles).toEqual([])
      expect(yield* exists("shop.tar")).toBe(false)
      expect(yield* exists("conf")).toBe(true)
    }))

  it.scopedLive("leaves one archive behind when its name changes", () =>
    Effect.gen(function*() {
      const { archive, bring, deployed, directory, exists } = yield* scene({ settings: { "deploy.transfer": "full" } })
      yield* bring(archive("one"))
      yield* deployed
      yield* bring(archive("two"), "shop-2.tar")
      yield* must(() => utimes(join(directory, "shop.tar"), 1, 1))
      expect((yield* deployed).uploadedFiles).toEqual(["shop-2.tar"])
      expect([yield* exists("shop.tar"), yield* exists("shop-2.tar")]).toEqual([false, true])
    }))
})

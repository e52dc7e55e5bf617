import { describe, expect, it } from "@effect/vitest"
import { Either, FastCheck, Schema } from "effect"
import { spawnSync } from "node:child_process"
import { parseRemotePath, parseStackPath, RemotePath } from "../../src/schema/servers.ts"
import { script as pathOf } from "../../src/services/ssh/scripts/pathOf.sh.ts"

const home = "/home/somebody"

/** Paths as a shell resolves them in the scripts on a server. */
const places = (paths: ReadonlyArray<string>) => {
  const script = `${pathOf}
while IFS= read -r path; do path_of "$path"; done | tr '\\n' '\\000' | xargs -0 realpath -msz --`
  const { status, stderr, stdout } = spawnSync("sh", ["-c", script], {
    input: paths.map((path) => `${path}\n`).join(""),
    env: { PATH: process.env["PATH"], HOME: home, LC_ALL: "C" },
    maxBuffer: 1024 ** 3
  })
  expect([status, stderr.toString()]).toEqual([0, ""])
  return stdout.toString().split("\0").slice(0, -1)
}

const pieces = [".", "/", "~", "..", " ", "a", "ü", "…", "\t", "-", "😀", "\ud83d", "$HOME", "$(id)", "\\", "'", "*"]
const texts = FastCheck.array(
  FastCheck.oneof(
    { arbitrary: FastCheck.constantFrom(".", "/", "/", "/./", "~"), weight: 3 },
    { arbitrary: FastCheck.constantFrom(...pieces, "x".repeat(255)), weight: 1 }
  ),
  { maxLength: 9 }
)
const paths = FastCheck.tuple(FastCheck.constantFrom("/", "~/", "~", "", "//", "~//"), texts)
  .map(([start, rest]) => start + rest.join(""))

describe("a path on a server", () => {
  it("is never the root or the home in another spelling", () => {
    for (
      const path of ["/", "//", "/.", "/./", "/.//.", "//.", "~", "~/", "~//", "~/.", "~/./", "~/./.", "~/.//", "/a/.."]
    ) {
      expect([path, Either.isLeft(parseRemotePath("remotePath", path))]).toEqual([path, true])
      expect([path, Schema.is(RemotePath)(path)]).toEqual([path, false])
    }
    expect(parseRemotePath("remotePath", "~/.")).toMatchObject({
      left: { message: "remotePath must name a directory below / or ~" }
    })
  })

  it("keeps names with dots, tildes and blanks", () => {
    for (const path of ["/...", "/ ", "~/~", "/~", "~/.config", "/srv/.berth-old", "~/containers/a b"]) {
      expect(parseRemotePath("remotePath", path)).toEqual(Either.right(path))
      expect(parseStackPath("remotePath", path)).toEqual(Either.right(path))
    }
    expect(parseRemotePath("remotePath", "~//containers/./app//")).toEqual(Either.right("~/containers/app"))
  })

  it("of a stack does not lead into the notes of another one", () => {
    for (const path of ["~/containers/app/.berth", "/srv/app/.berth/releases/3/files", "/srv/./.berth/."]) {
      expect(parseStackPath("remotePath", path)).toMatchObject({ left: { reason: expect.stringContaining(".berth") } })
      expect(Either.isRight(parseRemotePath("remotePath", path))).toBe(true)
    }
  })

  it.skipIf(process.platform !== "linux")(
    "is what the server takes it for, below the root or the home, whatever is accepted",
    () => {
      const accepted = FastCheck.sample(paths, { numRuns: 5_000, seed: 1 }).flatMap((path) =>
        Either.match(parseRemotePath("remotePath", path), { onLeft: () => [], onRight: (normal) => [{ path, normal }] })
      )
      expect(accepted.length).toBeGreaterThan(500)
      const meant = places(accepted.map(({ path }) => path))
      const read = places(accepted.map(({ normal }) => normal))
      expect(read).toEqual(meant)
      for (const [index, { normal }] of accepted.entries()) {
        expect([normal, read[index]]).toEqual([normal, normal.replace(/^~(?=\/)/, home)])
        expect(["/", home]).not.toContain(read[index])
        expect([normal, normal.startsWith("~/") && !read[index]?.startsWith(`${home}/`)]).toEqual([normal, false])
      }
    }
  )
})

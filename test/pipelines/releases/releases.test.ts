import { describe, expect, it } from "@effect/vitest"
import { Either, Option } from "effect"
import { chooseRelease } from "../../../src/pipelines/releases/releases.ts"
import {
  buildManifestInput,
  formatManifest,
  parseReleases,
  type ReleaseManifest
} from "../../../src/remote/releases.ts"
import type { Stack } from "../../../src/schema/stacks.ts"

const manifest: ReleaseManifest = {
  by: "ann\tand\nbob",
  composeFiles: ["compose.yml", "compose.prod.yml"],
  profiles: ["web"],
  projectName: "",
  stackName: "shop",
  keepsOrphans: true,
  variableFiles: [".env"],
  mounts: [{ service: "web", path: "conf/a\tb" }],
  privateFiles: ["conf/é"],
  healthMillis: Option.some(1500),
  services: [{ name: "web", runs: true }, { name: "job", runs: false }],
  envFiles: [".env"],
  files: ["a\tb", "conf/é"],
  largeFiles: ["big.bin"],
  built: new Map([["web", "0123456789abcdef"]]),
  bridged: [],
  backups: ""
}
const image = (name: string, id: string) => `image\tsha256:${id}\t${name}\tbrought`
const note = (id: number, current: boolean, images: ReadonlyArray<string>) => [
  `release\t${id}\t${current ? "current" : ""}`,
  "at\t2026-01-02T03:04:05Z",
  "run\tx",
  ...images,
  ...formatManifest(manifest)
]
const read = (...lines: ReadonlyArray<string>) => parseReleases(`${lines.join("\n")}\n`)
const place: Stack = {
  remotePath: "~/x",
  server: {
    id: "main",
    name: "Main",
    host: "192.0.2.1",
    port: 22,
    username: "u",
    useSudo: false,
    credentials: {}
  }
}

describe("the releases that a server tells of", () => {
  it("are read as they were written, newest first, with the images that are gone", () => {
    const releases = read(
      ...note(9, false, [image("a:1", "aa"), image("b:1", "bb")]),
      ...note(10, true, [image("a:1", "cc")]),
      "release\t11\t",
      "torn",
      "here\tsha256:aa",
      "here\tsha256:cc"
    )
    expect(releases.map(({ id, isCurrent }) => [id, isCurrent])).toEqual([["10", true], ["9", false]])
    expect(releases[0]?.manifest).toEqual({ ...manifest, by: "ann and bob" })
    expect(releases[1]?.missing).toEqual([{ name: "b:1", id: "sha256:bb" }])
  })

  it("are sent with their size in bytes first", () => {
    expect(buildManifestInput(["by\té"])).toBe("6\nby\té\n")
  })
})

describe("the release to go back to", () => {
  const releases = read(
    ...note(1, false, [image("a:1", "aa")]),
    ...note(2, false, [image("a:1", "gone")]),
    ...note(3, true, []),
    ...note(4, false, []),
    "here\tsha256:aa"
  )
  const chosen = (wanted: string | null, among = releases) =>
    Either.match(chooseRelease(among, wanted, place), {
      onLeft: ({ message, status }) => `${status} ${message}`,
      onRight: ({ id }) => id
    })

  it("is the one that is named, else the one before the current one, else the newest", () => {
    expect(chosen("1")).toBe("1")
    expect(chosen("3")).toBe("3")
    expect(chosen(null, read(...note(1, false, []), ...note(2, true, [])))).toBe("1")
    expect(chosen(null, read(...note(1, false, []), ...note(2, false, [])))).toBe("2")
  })

  it("is told to be missing with what there is in its place", () => {
    expect(chosen(null)).toBe(
      "409 Release 2 cannot run: \"Main\" no longer has a:1 (sha256:gone). Nothing was changed: release 3 is still the " +
        "current one. Deploy the project again, or go back to release 4 or 1"
    )
    expect(chosen("5\n")).toBe(
      "404 There is no release \"5\\n\" in ~/x on \"Main\". Known releases: 4, 3 (the current one), 2, 1. Nothing was changed"
    )
    expect(chosen(null, read(...note(1, true, [])))).toBe(
      "404 There is no release before the current one in ~/x on \"Main\". Known releases: 1 (the current one). " +
        "Nothing was changed"
    )
    expect(chosen(null, [])).toMatch(/^404 There is no release to go back to in ~\/x on "Main"/)
  })
})

import { describe, expect, it } from "@effect/vitest"
import { Duration } from "effect"
import { computeLogLimit, decidePrune, describeDiskUse, judgeImages } from "../../../src/pipelines/disks.ts"
import { parseDisk, parsePrune } from "../../../src/remote/disks.ts"

const now = Date.parse("2026-02-01T00:00:00Z")
const id = (letter: string) => `sha256:${letter.repeat(64)}`
const old = "2026-01-01T00:00:00.5Z\t2026-01-02 00:00:00 +0000 UTC"
const image = (letter: string, tags: string, digests = "", times = old) =>
  `image\t${id(letter)}\t1000\t${times}\t\t${tags}\t${digests}`
const known = "0123456789ab"
const unknown = "ba9876543210"

const printed = [
  "disk\tdocker\t1000\t100\t/srv/docker disk",
  "inodes\tdocker\t500\t5",
  image("a", "shop:3 berth/release:0123456789ab-aaaaaaaaaaaa "),
  image("b", "berth/release:0123456789ab-bbbbbbbbbbbb "),
  image("c", `shop:1 berth/release:${known}-cccccccccccc `),
  image("d", `berth/release:${unknown}-dddddddddddd `),
  image("e", "tool:1 "),
  image("f", "", "tool@sha256:00 "),
  image("1", ""),
  image("2", "berth/incoming:run-1 ", "", "2026-01-31T23:59:00Z\t2026-01-31T23:59:30Z"),
  image("3", "berth/incoming:run-2 "),
  image("4", "left:1 "),
  image("5", "db:1 "),
  `container\tx1\t/db\t${id("5")}\t"/srv/db"\tjson-file\t10m\t3\tdb_data `,
  "container\tx2\t/odd\tsha256:none\tnull\tjson-file\t<no value>\t<no value>\t",
  "log\t77\tx2",
  "volume\tdb_data\t1767312000",
  "volume\told_data\t",
  `directory\t1\t${known}\t/home/ann/containers/shop`,
  "release\t1\t3\tcurrent",
  `needs\t1\t3\t${id("a")}\tshop:3\tbrought`,
  `leaves\t${id("4")}\tleft:1`,
  "kept\t1\t10\t20",
  `unique\t${id("b")}\t1.5MB`,
  "size\told_data\t2kB",
  "cache\tparent\t1MB\tfalse\t2026-01-01 00:00:00 +0000 UTC\t",
  "cache\tchild\t2MB\tfalse\t2026-01-01 00:00:00 +0000 UTC\tparent",
  "cache\tbusy\t4MB\ttrue\t2026-01-01 00:00:00 +0000 UTC\t"
].join("\n")
const inventory = parseDisk(printed)

describe("space on a server", () => {
  it("has an owner for each image, and a reason why it stays", () => {
    expect(judgeImages(inventory, now).map(({ image, owner, standing }) => [image.id[7], owner.kind, standing]))
      .toEqual([
        ["a", "release", "needed"],
        // Berth's own name alone, and no release needs it any more.
        ["b", "nobody", "ours"],
        // It has another name, too.
        ["c", "foreign", "others"],
        // Its directory was not found: another user's Berth may need it.
        ["d", "release", "others"],
        ["e", "foreign", "others"],
        ["f", "foreign", "others"],
        ["1", "nobody", "others"],
        // A deploy may be loading it just now.
        ["2", "nobody", "needed"],
        ["3", "nobody", "ours"],
        ["4", "nobody", "ours"],
        ["5", "stack", "needed"]
      ])
  })

  it("is planned from any number of records that need each other, each before those that it is made of", () => {
    const many = 20_000
    const record = (at: number, parent: number) =>
      `cache\tr${at}\t1MB\tfalse\t2026-01-01 00:00:00 +0000 UTC\tr${parent}`
    const chain = Array.from({ length: many }, (_, at) => record(many - 1 - at, many - 2 - at))
    const circle = Array.from({ length: 3 }, (_, at) => record(many + at, many + (at + 1) % 3))
    const { remove } = decidePrune(parseDisk([...chain, ...circle].join("\n")), { buildCache: true }, now)
    expect(remove.map((item) => item.id).slice(0, 2)).toEqual([`r${many - 1}`, `r${many - 2}`])
    const few = decidePrune(parseDisk(circle.join("\n")), { buildCache: true }, now).remove
    expect(few.map((item) => item.id).sort()).toEqual([`r${many}`, `r${many + 1}`, `r${many + 2}`])
  })

  it("is freed of what Berth brought, and of more only if that is named", () => {
    const removed = (options: Parameters<typeof decidePrune>[1]) =>
      decidePrune(inventory, options, now).remove.map((item) => item.kind === "image" ? item.id[7] : item.id).join(" ")
    expect(removed({})).toBe("b 3 4")
    expect(removed({ others: true })).toBe("b c d e f 1 3 4")
    expect(removed({ olderThan: Duration.days(40) })).toBe("")
    // Records that others were made of go last.
    expect(removed({ buildCache: true })).toBe("b 3 4 child parent")
    expect(removed({ volumes: ["old_data", "db_data", "none"] })).toBe("b 3 4 old_data")
    expect(decidePrune(inventory, { volumes: ["db_data", "none"] }, now).keep.slice(-2)).toEqual([
      { id: "db_data", names: ["db_data"], because: "the container db uses it" },
      { id: "none", names: ["none"], because: "there is no such volume" }
    ])
  })

  it("is described with inodes, limits of logs, volumes and releases", () => {
    const use = describeDiskUse(inventory, now)
    expect(use.disks).toEqual([
      { mount: "/srv/docker disk", bytes: 1_024_000, used: 921_600, inodes: 500, inodesUsed: 495 }
    ])
    expect(use.logs).toEqual([
      { container: "odd", bytes: 77, limit: null },
      { container: "db", bytes: null, limit: 30_000_000 }
    ])
    expect(use.volumes).toEqual([
      { name: "old_data", bytes: 2000, usedBy: [], changedAt: null },
      { name: "db_data", bytes: null, usedBy: ["db"], changedAt: "2026-01-02T00:00:00.000Z" }
    ])
    expect(use.stacks).toEqual([{ path: "/home/ann/containers/shop", releases: 1, bytes: 10_240, backups: 20_480 }])
    expect(use.buildCache).toEqual({ records: 3, bytes: 7_000_000, unused: 3_000_000 })
  })

  it.each([
    ["json-file", "", "", null],
    ["json-file", "-1", "", null],
    ["json-file", "1.5g", "2", 3e9],
    ["json-file", "100", "", 100],
    ["local", "", "", 100e6],
    ["journald", "", "", undefined]
  ])(
    "has logs of the driver %s with max-size %j and max-file %j of at most %j bytes",
    (logDriver, size, file, limit) => {
      expect(computeLogLimit({ logDriver, logMaxFile: file, logMaxSize: size })).toBe(limit)
    }
  )

  it("tells what was removed, and never frees less than nothing", () => {
    expect(parsePrune("removed\timage\tx\nskipped\tvolume\ty\tin\tuse\nfreed\t-3\n")).toEqual({
      removed: new Set(["image x"]),
      reasons: new Map([["volume y", "in use"]]),
      freedBytes: 0,
      busy: undefined
    })
    expect(parsePrune("busy\t/srv/a\tb\n").busy).toBe("/srv/a\tb")
  })
})

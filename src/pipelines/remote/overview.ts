import type { ServerDisk } from "../../schema/Overview.ts"
import { lineLimit } from "../../services/ssh/AnswerLimit.ts"
import type { RemoteCommand } from "../../services/ssh/RemoteCommand.ts"
import { script } from "./scripts/overview.sh.ts"

/** The exit code of `overviewCommand` where Docker cannot be used. */
export const overviewExit = { noDocker: 3 } as const

/** Asks what the stacks of a server do, in one look. `paths` are remote paths, none of them with a line break or NUL. */
export const overviewCommand = (paths: ReadonlyArray<string>, sudo: boolean): RemoteCommand => ({
  what: "looking at the stacks",
  script,
  args: [],
  stdin: paths.map((path) => `${path}\n`).join(""),
  sudo,
  limit: lineLimit(4, 20_000)
})

/** What a server says of the stack at a remote path. */
export interface StackSight {
  /** What Docker says of each of its containers: `Up 3 hours (healthy)`. */
  readonly statuses: ReadonlyArray<string>
  /** What its deploys call the current release; nothing where no deploy has noted one. */
  readonly release: string | null
}

const kinds = ["containers", "docker"] as const
const kibibytes = /^\d{1,15}$/

/** The disks that the answer of `overviewCommand` tells of, also where Docker cannot be used: each file system once. */
export const parseDisks = (output: string): ReadonlyArray<ServerDisk> => {
  const disks = new Map<string, ServerDisk>()
  for (const line of output.split("\n")) {
    const [label, kind = "", total = "", free = "", ...mount] = line.split("\t")
    const holds = kinds.find((known) => known === kind)
    if (label !== "disk" || holds === undefined || !kibibytes.test(total) || !kibibytes.test(free)) continue
    // The script tells of each kind once.
    if ([...disks.values()].some((disk) => disk.holds.includes(holds))) continue
    const mountedOn = mount.join("\t").slice(0, 300)
    const before = disks.get(mountedOn)?.holds ?? []
    disks.set(mountedOn, {
      holds: [...new Set([...before, holds])],
      mountedOn,
      totalBytes: Number(total) * 1024,
      freeBytes: Number(free) * 1024
    })
  }
  return [...disks.values()]
}

/** What is a release, and not just what somebody wrote into a file. */
const releaseId = /^[A-Za-z0-9][A-Za-z0-9._:+-]{0,99}$/

/** Reads the answer of `overviewCommand`: the stack at a remote path, which may be another one than was asked for. */
export const parseOverview = (
  output: string,
  paths: ReadonlyArray<string>
): (remotePath: string) => StackSight => {
  let home = ""
  const statuses = new Map<string, Array<string>>()
  const releases = new Map<string, string>()
  const realPaths = new Map<string, string>()
  for (const line of output.split("\n")) {
    const [kind = "", first = "", ...rest] = line.split("\t")
    const path = rest.join("\t")
    if (kind === "home") home = line.slice("home\t".length)
    else if (kind === "container") {
      const before = statuses.get(path)
      if (before === undefined) statuses.set(path, [first])
      else before.push(first)
    } else if (kind === "release" && releaseId.test(first)) releases.set(path, first)
    else if (kind === "asked") {
      const asked = paths[Number(first) - 1]
      if (asked !== undefined) realPaths.set(asked, path)
    }
  }
  return (remotePath) => {
    const named = remotePath.startsWith("~/") ? `${home}${remotePath.slice(1)}` : remotePath
    const directories = [...new Set([named, realPaths.get(remotePath) ?? named])]
    return {
      statuses: directories.flatMap((directory) => statuses.get(directory) ?? []),
      release: directories.map((directory) => releases.get(directory)).find((release) => release !== undefined) ?? null
    }
  }
}

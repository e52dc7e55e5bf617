import type { ObservedServer, ServerDisk } from "../../schema/Overview.ts"
import { makeLineLimit } from "../../services/ssh/AnswerLimit.ts"
import type { RemoteCommand } from "../../services/ssh/RemoteCommand.ts"
import { parseContainerName } from "../stack/containersCommand.ts"
import { script } from "./overview.sh.ts"

/** Exit code of `overviewCommand` if Docker cannot be used. */
export const overviewExit = { noDocker: 3 } as const

/** Reads the state of a server's stacks in one command. `paths` are remote paths without line breaks or NULs. */
export const overviewCommand = (paths: ReadonlyArray<string>, sudo: boolean): RemoteCommand => ({
  what: "looking at the stacks",
  script,
  args: [],
  stdin: paths.map((path) => `${path}\n`).join(""),
  sudo,
  limit: makeLineLimit(4, 20_000)
})

/** Stack at a remote path, as its server reported it. */
export interface ReportedStack {
  /** Status of each of its containers in Docker's format: `Up 3 hours (healthy)`. */
  readonly statuses: ReadonlyArray<string>
  /** Names of its containers, in the same order. */
  readonly names: ReadonlyArray<string>
  /** Ports of its running containers in Docker's format: `0.0.0.0:2000->3000/tcp`. */
  readonly ports: ReadonlyArray<string>
  /** Id of the current release; null if no deploy recorded one. */
  readonly release: string | null
}

const kinds = ["containers", "docker"] as const
const kibibytes = /^\d{1,15}$/

/** Parses the disks in the answer of `overviewCommand`, even if Docker cannot be used; each file system once. */
export const parseDisks = (output: string): ReadonlyArray<ServerDisk> => {
  const disks = new Map<string, ServerDisk>()
  for (const line of output.split("\n")) {
    const [label, kind = "", total = "", free = "", ...mount] = line.split("\t")
    const holds = kinds.find((known) => known === kind)
    if (label !== "disk" || holds === undefined || !kibibytes.test(total) || !kibibytes.test(free)) continue
    // The script reports each kind once.
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

const decimal = /^\d{1,6}(?:\.\d{1,6})?$/

/** Parses load and memory in the answer of `overviewCommand`; absent on a server without these files. */
export const parseUsage = (output: string): Pick<ObservedServer, "load" | "memory"> => {
  const fieldsOf = (kind: string) => output.split("\n").find((line) => line.startsWith(`${kind}\t`))?.split("\t") ?? []
  const [, minute = "", processors = ""] = fieldsOf("load")
  const [, total = "", free = ""] = fieldsOf("memory")
  return {
    ...decimal.test(minute) && decimal.test(processors) && Number(processors) > 0
      ? { load: { minute: Number(minute), processors: Number(processors) } }
      : {},
    ...kibibytes.test(total) && kibibytes.test(free)
      ? { memory: { totalBytes: Number(total) * 1024, freeBytes: Number(free) * 1024 } }
      : {}
  }
}

/** Valid id of a release, because the file may contain anything. */
const releaseId = /^[A-Za-z0-9][A-Za-z0-9._:+-]{0,99}$/

/**
 * Parses the answer of `overviewCommand`; returns a lookup of stacks by remote path, which also works for paths that
 * were not requested.
 */
export const parseOverview = (
  output: string,
  paths: ReadonlyArray<string>
): (remotePath: string) => ReportedStack => {
  let home = ""
  const containers = new Map<
    string,
    Array<{ readonly status: string; readonly name: string; readonly ports: string }>
  >()
  const releases = new Map<string, string>()
  const realPaths = new Map<string, string>()
  for (const line of output.split("\n")) {
    const [kind = "", first = "", ...rest] = line.split("\t")
    const path = rest.join("\t")
    if (kind === "home") home = line.slice("home\t".length)
    else if (kind === "container") {
      const [ports = "", names = "", ...directory] = rest
      const path = directory.join("\t")
      const container = { status: first, name: parseContainerName(names), ports }
      const before = containers.get(path)
      if (before === undefined) containers.set(path, [container])
      else before.push(container)
    } else if (kind === "release" && releaseId.test(first)) releases.set(path, first)
    else if (kind === "asked") {
      const asked = paths[Number(first) - 1]
      if (asked !== undefined) realPaths.set(asked, path)
    }
  }
  return (remotePath) => {
    const named = remotePath.startsWith("~/") ? `${home}${remotePath.slice(1)}` : remotePath
    const directories = [...new Set([named, realPaths.get(remotePath) ?? named])]
    const found = directories.flatMap((directory) => containers.get(directory) ?? [])
    return {
      statuses: found.map(({ status }) => status),
      names: found.map(({ name }) => name),
      ports: found.flatMap(({ ports }) => ports.split(", ").filter((port) => port !== "")),
      release: directories.map((directory) => releases.get(directory)).find((release) => release !== undefined) ?? null
    }
  }
}

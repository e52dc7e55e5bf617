import { Path } from "@effect/platform"
import { Effect } from "effect"
import { containerConfigName, ProjectFileInvalid, ProjectWithoutServer } from "../../schema/projects/Project.ts"
import { findServer, formatServerReference } from "../../schema/servers/findServer.ts"
import { parseRemotePath } from "../../schema/servers/RemotePath.ts"
import { TargetUnknown } from "../../schema/targets/Targets.ts"
import { quoteInput } from "../../schema/words/quoted.ts"
import { Settings } from "../../services/settings/Settings.ts"
import { readContainerConfig } from "../projects/files/containerConfig.ts"
import { listDeclaredTargets, resolveRemotePath } from "../projects/inspectProject.ts"

/** A place that a project is deployed to. */
export interface ResolvedTarget {
  /** Name of the server, or its id if several servers have this name. */
  readonly server: string
  readonly serverId: string
  readonly remotePath: string
}

const keyOf = ({ remotePath, serverId }: ResolvedTarget) => JSON.stringify([serverId, remotePath])

/**
 * Targets of a project in the order of its `container.json`, or its only place.
 * @param wanted servers of the requested targets, by id or name; all targets if omitted
 */
export const listProjectTargets = Effect.fn("listProjectTargets")(function*(
  directory: string,
  wanted?: ReadonlyArray<string> | null
) {
  const path = yield* Path.Path
  const name = path.basename(directory)
  const config = yield* readContainerConfig(directory)
  const stored = yield* (yield* Settings).servers
  const named = listDeclaredTargets(config, name)
  if (named.length === 0 && (config.serverId ?? "") === "") return yield* new ProjectWithoutServer({ name })
  const places = named.length > 0 ? named : [{
    serverId: config.serverId ?? "",
    remotePath: resolveRemotePath(config, name)
  }]
  const targets = yield* Effect.forEach(places, ({ remotePath, serverId }) =>
    Effect.gen(function*() {
      const server = yield* findServer(stored, serverId)
      return {
        server: formatServerReference(stored, server),
        serverId: server.id,
        remotePath: yield* parseRemotePath("remotePath", remotePath)
      } satisfies ResolvedTarget
    }))
  const twice = targets.find((target, index) => targets.slice(0, index).some((other) => keyOf(other) === keyOf(target)))
  if (twice !== undefined) {
    const reason = `targets names ${quoteInput(twice.remotePath)} on ${quoteInput(twice.server)} twice`
    return yield* new ProjectFileInvalid({ file: path.join(directory, containerConfigName), reason })
  }
  const isParallel = config.parallel === true
  if (wanted === undefined || wanted === null) return { targets, isParallel }
  const ids = yield* Effect.forEach(wanted, (server) =>
    Effect.gen(function*() {
      const { id } = yield* findServer(stored, server)
      if (targets.some(({ serverId }) => serverId === id)) return id
      const known = [...new Set(targets.map((target) => target.server))]
      return yield* new TargetUnknown({ project: name, server, known })
    }))
  return { targets: targets.filter(({ serverId }) => ids.includes(serverId)), isParallel }
})

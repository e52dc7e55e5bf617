import { Effect, Option, Predicate } from "effect"
import { Berth } from "../../client/Berth.ts"
import { formatServerReference } from "../../schema/servers/findServer.ts"
import { withService } from "../connection/withService.ts"
import { locateNamedStack } from "../options/projects.ts"
import type { CommandNode } from "../parse/command.ts"
import { Screen } from "../terminal/Screen.ts"
import { type Candidates, findCandidates } from "./findCandidates.ts"

const maxListedRuns = 50

/** Lists the names to complete from the service. */
const listNames = ({ given, names, options }: Candidates) =>
  Effect.gen(function*() {
    const { use } = yield* Berth
    const option = (name: string) => Option.fromNullable(options.get(name))
    switch (names) {
      case "project":
        return (yield* use((api) => api.listProjects({}))).map(({ name }) => name)
      case "server":
        return yield* Effect.map(
          use((api) => api.listServers({})),
          // Names with spaces cannot be completed; their ids can.
          (servers) =>
            servers.map((server) => formatServerReference(servers, server)).map((name, index) =>
              /\s/.test(name) ? servers[index]?.id ?? name : name
            )
        )
      case "application":
        return (yield* use((api) => api.listApplications({}))).map(({ name }) => name).filter(Predicate.isString)
      case "run":
        return (yield* use((api) => api.listRuns({ urlParams: { limit: maxListedRuns } }))).runs.map(({ id }) => id)
      case "route":
        return (yield* use((api) => api.listRoutes({}))).routes.map(({ routeName }) => routeName)
      case "release": {
        const place = { server: option("server"), path: option("path") }
        const { remotePath, serverId } = yield* locateNamedStack(Option.fromNullable(given[0]), place)
        const { releases } = yield* use((api) =>
          api.listReleases({ path: { id: serverId }, urlParams: { remotePath } })
        )
        return releases.flatMap(({ available, current, id }) => available && !current ? [id] : [])
      }
      default:
        return []
    }
  })

// Excludes names that a shell would split or expand.
const isWord = (name: string) => /^[\w.@:/+~-]{1,200}$/.test(name)

/**
 * Prints completions for the last word, one per line. Prints nothing if they cannot be looked up: a shell shows the output
 * while the user types.
 */
export const complete = (root: CommandNode, words: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const screen = yield* Screen
    const found = findCandidates(root, words)
    const current = words.at(-1) ?? ""
    const names = found.names === undefined
      ? []
      : yield* withService(
        {
          url: Option.fromNullable(found.options.get("url")),
          config: Option.fromNullable(found.options.get("config"))
        },
        listNames(found)
      ).pipe(
        // Completion must not ask questions.
        Effect.provideService(Screen, { ...screen, canAsk: false }),
        Effect.orElseSucceed(() => [])
      )
    const fitting = names.filter((name) => name.startsWith(current) && isWord(name))
    const all = [...new Set([...found.words, ...fitting])]
    if (all.length > 0) yield* screen.print(all.join("\n"))
  })

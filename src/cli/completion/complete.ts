import { Effect, Option } from "effect"
import { withService } from "../connection/withService.ts"
import type { CommandNode } from "../parse/command.ts"
import { Screen } from "../terminal/Screen.ts"
import { findCandidates } from "./findCandidates.ts"
import { listNames } from "./listNames.ts"

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

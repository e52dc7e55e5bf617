import { Effect, Option } from "effect"
import { connected } from "../common.ts"
import type { CommandNode } from "../parse/command.ts"
import { Screen } from "../terminal/Screen.ts"
import { candidates } from "./candidates.ts"
import { namesOf } from "./namesOf.ts"

// What would not be one word of a command line, or would not be a name at all.
const isWord = (name: string) => /^[\w.@:/+~-]{1,200}$/.test(name)

/**
 * Prints what may stand in place of the last of these words, a line each: what a shell asks for when somebody presses Tab.
 * Where that cannot be told, nothing is said.
 */
export const completed = (root: CommandNode, words: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const screen = yield* Screen
    const found = candidates(root, words)
    const current = words.at(-1) ?? ""
    const names = found.names === undefined
      ? []
      : yield* connected(
        {
          url: Option.fromNullable(found.options.get("url")),
          config: Option.fromNullable(found.options.get("config"))
        },
        namesOf(found)
      ).pipe(
        // Completion asks nothing.
        Effect.provideService(Screen, { ...screen, canAsk: false }),
        Effect.orElseSucceed(() => [])
      )
    const fitting = names.filter((name) => name.startsWith(current) && isWord(name))
    const all = [...new Set([...found.words, ...fitting])]
    if (all.length > 0) yield* screen.print(all.join("\n"))
  })

import type { Effect, Scope } from "effect"
import type { Berth } from "../../client/Berth.ts"
import { type CommonInput, type GivenService, withService } from "../connection/withService.ts"
import {
  type CommandContext,
  type CommandDescription,
  type CommandFailure,
  type CommandNode,
  type Config,
  defineCommand,
  type Input,
  readInputValues
} from "../parse/command.ts"
import { common } from "./common.ts"

/** Defines a command that calls the service: it takes the common options after its own. */
export const defineServiceCommand = <const C extends Config>(
  words: CommandDescription,
  config: C,
  handler: (
    input: Input<C> & CommonInput
  ) => Effect.Effect<number | void, CommandFailure, CommandContext | Berth | GivenService | Scope.Scope>
): CommandNode =>
  defineCommand(words, { ...config, ...common }, (given) => {
    const input = { ...readInputValues(config, given), ...readInputValues(common, given) }
    return withService(input, handler(input))
  })

import { Effect, Layer, Ref } from "effect"
import {
  type LocalCommand,
  type LocalExit,
  LocalProcesses,
  ProgramNotFound
} from "../../src/services/local/LocalProcesses.ts"

/** Arguments of a started program. */
export type Started = Pick<LocalCommand, "program" | "args" | "cwd">

/** Behaviour of a test's program: its output, or an effect, which may take time or never end. */
export type Script = string | ((started: Started) => Effect.Effect<Partial<LocalExit>>)

const exitOf = (script: Script, started: Started) =>
  Effect.map(
    typeof script === "string" ? Effect.succeed({ output: script }) : script(started),
    (exit): LocalExit => ({ exitCode: 0, timedOut: false, output: "", ...exit })
  )

/** Scripted programs by name; others are not installed. `started` records every start in order. */
export const localProcessesTest = (
  scripts: Readonly<Record<string, Script>>,
  started?: Ref.Ref<ReadonlyArray<Started>>
): Layer.Layer<LocalProcesses> => {
  const start = ({ args, cwd, program }: Started) =>
    Effect.gen(function*() {
      const script = scripts[program]
      if (script === undefined) return yield* new ProgramNotFound({ program, help: "it is not installed" })
      const seen: Started = cwd === undefined ? { program, args } : { program, args, cwd }
      if (started !== undefined) yield* Ref.update(started, (all) => [...all, seen])
      return { script, seen }
    })
  return Layer.succeed(
    LocalProcesses,
    LocalProcesses.of({
      run: (command, onOutput) =>
        Effect.gen(function*() {
          const { script, seen } = yield* start(command)
          const ended = yield* Effect.timeoutOption(exitOf(script, seen), command.timeout)
          const exit = ended._tag === "None" ? { exitCode: null, timedOut: true, output: "" } : ended.value
          if (onOutput !== undefined && exit.output !== "") yield* onOutput(exit.output, 0)
          return exit
        }),
      launch: (command) => Effect.asVoid(start(command))
    })
  )
}

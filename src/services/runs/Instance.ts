import { Context, Effect, Layer, type Scope } from "effect"
import { randomUUID } from "node:crypto"
import { formatUserAtMachine } from "../local/userName.ts"

/** Identity of this process, as written into the locks that it takes on servers. */
export class Instance extends Context.Tag("berth/Instance")<Instance, {
  /** Unique for every start of a process. */
  readonly id: string
  /** User, machine and process: `alice@laptop, process 4711`. */
  readonly description: string
  /** Registers a lock until the scope closes, and returns its name, which begins with the id. */
  readonly hold: Effect.Effect<string, never, Scope.Scope>
  /** Reports whether a lock of this name is registered. */
  readonly isHolding: (name: string) => Effect.Effect<boolean>
}>() {}

export const InstanceLive = Layer.sync(Instance, () => {
  const id = randomUUID()
  const lockNames = new Set<string>()
  return Instance.of({
    id,
    description: `${formatUserAtMachine()}, process ${process.pid}`,
    hold: Effect.acquireRelease(
      Effect.sync(() => {
        const name = `${id}/${randomUUID()}`
        lockNames.add(name)
        return name
      }),
      (name) => Effect.sync(() => lockNames.delete(name))
    ),
    isHolding: (name) => Effect.sync(() => lockNames.has(name))
  })
})

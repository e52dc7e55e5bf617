import { Context, Effect, Layer, type Scope } from "effect"
import { randomUUID } from "node:crypto"
import { hostname, userInfo } from "node:os"

/** This process of Berth, as other processes see it when they meet its locks. */
export class Instance extends Context.Tag("berth/Instance")<Instance, {
  /** Different for every start of every process. */
  readonly id: string
  /** Who and where, in words: `alice@laptop, process 4711`. */
  readonly description: string
  /** Makes a name for a lock that this process is about to hold, until the scope closes. It begins with the id. */
  readonly hold: Effect.Effect<string, never, Scope.Scope>
  /** Whether this process still holds, or is about to hold, the lock of this name. */
  readonly isHolding: (name: string) => Effect.Effect<boolean>
}>() {}

const oneLine = (text: string) => text.replace(/[\0\r\n]+/g, " ")

export const InstanceLive = Layer.sync(Instance, () => {
  const id = randomUUID()
  const held = new Set<string>()
  return Instance.of({
    id,
    description: oneLine(`${userInfo().username}@${hostname()}, process ${process.pid}`),
    hold: Effect.acquireRelease(
      Effect.sync(() => {
        const name = `${id}/${randomUUID()}`
        held.add(name)
        return name
      }),
      (name) => Effect.sync(() => held.delete(name))
    ),
    isHolding: (name) => Effect.sync(() => held.has(name))
  })
})

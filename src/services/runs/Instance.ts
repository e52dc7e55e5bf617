import { Context, Layer } from "effect"
import { randomUUID } from "node:crypto"
import { hostname, userInfo } from "node:os"

/** This process of Berth, as other processes see it when they meet its locks. */
export class Instance extends Context.Tag("berth/Instance")<Instance, {
  /** Different for every start of every process. */
  readonly id: string
  /** Who and where, in words: `alice@laptop, process 4711`. */
  readonly description: string
}>() {}

const oneLine = (text: string) => text.replace(/[\0\r\n]+/g, " ")

export const InstanceLive = Layer.sync(Instance, () =>
  Instance.of({
    id: randomUUID(),
    description: oneLine(`${userInfo().username}@${hostname()}, process ${process.pid}`)
  }))

import type { ServerFacts } from "../../remote/deploy/preflightCommand.ts"

/** Reason why no service of a server can be bridged now; empty where there is none. */
export const leftoverBridge = ({ hasBridge }: Pick<ServerFacts, "hasBridge">): string =>
  hasBridge === true ? "a bridge of an earlier deploy could not be led back" : ""

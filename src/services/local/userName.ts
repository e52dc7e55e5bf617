import { Option } from "effect"
import { hostname, userInfo } from "node:os"

/**
 * Name of this process's user, from the system, else from the environment. A user id without an entry, as in
 * containers, may have neither.
 */
export const readUserName = (recorded = () => userInfo().username): string =>
  Option.getOrElse(Option.liftThrowable(recorded)(), () => process.env["LOGNAME"] ?? process.env["USER"] ?? "")

/** User and machine of this process, on one line: `alice@laptop`, or `10001@laptop` for a user without a name. */
export const formatUserAtMachine = (name = readUserName()): string =>
  `${name === "" ? process.getuid?.() ?? "somebody" : name}@${hostname()}`.replace(/[\0\r\n]+/g, " ")

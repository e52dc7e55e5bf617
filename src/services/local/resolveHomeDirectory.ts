import { Option } from "effect"
import { homedir, userInfo } from "node:os"
import { isAbsolute, parse } from "node:path"

const known = Option.liftThrowable(homedir)
const recorded = Option.liftThrowable(() => userInfo().homedir)

/**
 * The user's home directory: the one that the environment names, else the one that the system has on record. It is
 * absolute in any case: with an empty or relative `HOME`, files of the working directory would pass for the user's own.
 * A user without any has the root of the file system.
 */
export const resolveHomeDirectory = (): string =>
  known().pipe(
    Option.filter(isAbsolute),
    Option.orElse(() => Option.filter(recorded(), isAbsolute)),
    Option.getOrElse(() => parse(process.cwd()).root)
  )

import { Option } from "effect"
import { homedir, userInfo } from "node:os"
import { isAbsolute, parse } from "node:path"

const known = Option.liftThrowable(homedir)
const recorded = Option.liftThrowable(() => userInfo().homedir)

/**
 * Home directory of the user, from the environment, else from the system's user database; the root of the file system
 * if neither has one.
 * Always absolute: with an empty or relative `HOME`, files of the working directory would be taken for the user's own.
 */
export const resolveHomeDirectory = (): string =>
  known().pipe(
    Option.filter(isAbsolute),
    Option.orElse(() => Option.filter(recorded(), isAbsolute)),
    Option.getOrElse(() => parse(process.cwd()).root)
  )

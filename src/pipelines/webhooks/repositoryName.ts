import { Option } from "effect"
import type { PlatformRecord } from "../../schema/applications/PlatformApp.ts"

/** The name of an application's repository: the last segment of its address, without `.git`. */
export const parseRepositoryName = ({ git_repository: address }: PlatformRecord): Option.Option<string> =>
  Option.filter(
    Option.fromNullable((address ?? "").trim().replace(/(?<!\/)\/+$/, "").replace(/\.git$/, "").split(/[/:]/).at(-1)),
    (name) => name !== ""
  )

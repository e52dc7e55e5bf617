import { Option } from "effect"
import type { AppEnv } from "../../schema/PlatformApp.ts"
import { hostPortKey } from "../../services/platform/leavingFields.ts"

/** The environment variable whose value is the port that an application is reached at. */
export { hostPortKey }

/** The application's port among its environment variables; that of its previews is another matter. */
export const hostPortOf = (envs: ReadonlyArray<AppEnv>): Option.Option<AppEnv> =>
  Option.fromNullable(envs.find(({ key, record }) => key === hostPortKey && record["is_preview"] !== true))

import { Option } from "effect"
import { hostPortKey } from "../../schema/applications/hostPortKey.ts"
import type { AppEnv } from "../../schema/applications/PlatformApp.ts"

/** Port of the application, from its environment variables; the port of its previews is ignored. */
export const findHostPort = (envs: ReadonlyArray<AppEnv>): Option.Option<AppEnv> =>
  Option.fromNullable(envs.find(({ key, record }) => key === hostPortKey && record["is_preview"] !== true))

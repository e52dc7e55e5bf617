import { Option } from "effect"
import { hostPortKey } from "../../schema/applications/hostPortKey.ts"
import type { AppEnv } from "../../schema/applications/PlatformApp.ts"

/** The application's port among its environment variables; that of its previews is another matter. */
export const findHostPort = (envs: ReadonlyArray<AppEnv>): Option.Option<AppEnv> =>
  Option.fromNullable(envs.find(({ key, record }) => key === hostPortKey && record["is_preview"] !== true))

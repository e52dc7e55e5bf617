import { Effect } from "effect"

/** Loads the SSH library on first use, so that a start without connections does not wait for it. */
export const loadSsh2 = Effect.map(Effect.promise(() => import("ssh2")), ({ default: ssh2 }) => ssh2)

import { Effect } from "effect"

/** The SSH library, loaded when it is first used: a start that talks to no server yet does not wait for it. */
export const loadSsh2 = Effect.map(Effect.promise(() => import("ssh2")), ({ default: ssh2 }) => ssh2)

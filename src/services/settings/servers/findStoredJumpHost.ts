import { Effect, Option } from "effect"
import { type JumpAddress, resolveJumpAddresses } from "../../sshClient/jumpRoute.ts"
import type { makeServerReader, PlacedServer } from "../read/makeServerReader.ts"
import type { StoredServer } from "../read/serverFields.ts"

type Known = Effect.Effect.Success<ReturnType<ReturnType<typeof makeServerReader>["known"]>>

const isAt = ({ host, port, username }: JumpAddress) => (known: Known) =>
  known.host?.toLowerCase() === host.toLowerCase() && known.port === port &&
  (username === undefined || known.username === username)

const isSame = (one: JumpAddress, other: JumpAddress | undefined) =>
  one.host.toLowerCase() === other?.host.toLowerCase() && one.port === other.port

/** True when the jump hosts of a stored server are those named before it in the route. */
const isBehind = (jump: string | null | undefined, before: ReadonlyArray<JumpAddress>) =>
  jump === undefined
    ? Effect.succeed(false)
    : Effect.map(
      resolveJumpAddresses(jump ?? ""),
      (route) => route.length === before.length && before.every((hop, index) => isSame(hop, route[index]))
    )

/**
 * Finds the stored server of a jump host, if its fields can be read. For the first jump host of a route, a directly
 * reachable server is preferred; behind others, its own route must be the same.
 */
export const findStoredJumpHost =
  (servers: ReturnType<typeof makeServerReader>, stored: ReadonlyArray<StoredServer>) =>
  (address: JumpAddress, before: ReadonlyArray<JumpAddress>) =>
    Effect.gen(function*() {
      const all = stored.map((server, index): PlacedServer => ({ stored: server, index }))
      const there = yield* Effect.filter(all, (placed) => Effect.map(servers.known(placed), isAt(address)))
      const behind = yield* Effect.findFirst(there, (placed) =>
        Effect.flatMap(servers.known(placed), ({ jump }) => isBehind(jump, before)))
      const found = Option.orElse(behind, () =>
        Option.filter(Option.fromNullable(there[0]), () => before.length === 0))
      return Option.isNone(found) ? Option.none() : Option.some(yield* servers.access(found.value))
    })

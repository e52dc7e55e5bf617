import { HttpServer } from "@effect/platform"
import { Effect, Layer } from "effect"
import { recordService } from "../../services/state/discovery/serviceFile.ts"
import { formatBaseUrl } from "./announce.ts"

const everywhere: Readonly<Record<string, string>> = { "0.0.0.0": "127.0.0.1", "::": "::1" }

/** URL of a service for programs on the same machine. */
export const formatLocalUrl = (address: HttpServer.Address): string =>
  formatBaseUrl(
    address._tag === "UnixAddress"
      ? address
      : { ...address, hostname: everywhere[address.hostname] ?? address.hostname }
  )

const recordWhileListening = (options?: { readonly command: boolean }) =>
  Layer.scopedDiscard(
    Effect.flatMap(HttpServer.HttpServer, ({ address }) => recordService(formatLocalUrl(address), options))
  )

/** Publishes the service's address to programs of the same user while it listens. */
export const RecordAddress = recordWhileListening()

/** Publishes a command's address to other commands of the same user, for questions about its runs. */
export const RecordCommandAddress = recordWhileListening({ command: true })

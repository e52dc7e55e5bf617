import { HttpServer } from "@effect/platform"
import { Effect, Layer } from "effect"
import { leaveWord } from "../services/state/serviceFile.ts"
import { baseUrl } from "./announce.ts"

const everywhere: Readonly<Record<string, string>> = { "0.0.0.0": "127.0.0.1", "::": "::1" }

/** Where a service that listens at an address is reached from its own machine. */
export const addressHere = (address: HttpServer.Address): string =>
  baseUrl(
    address._tag === "UnixAddress"
      ? address
      : { ...address, hostname: everywhere[address.hostname] ?? address.hostname }
  )

const leave = (options?: { readonly command: boolean }) =>
  Layer.scopedDiscard(
    Effect.flatMap(HttpServer.HttpServer, ({ address }) => leaveWord(addressHere(address), options))
  )

/** Lets other programs of the same user find the service while it listens. */
export const LeaveAddress = leave()

/** Lets other commands of the same user find a command that answers about its runs. */
export const LeaveCommandAddress = leave({ command: true })

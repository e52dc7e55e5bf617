import { Either, Option } from "effect"
import type { PlatformServer } from "../../../schema/applications/PlatformApp.ts"
import { quoteInput } from "../../../schema/words/quoted.ts"

/** Platform server that an application runs on. A local one is the platform's own host and needs no proxy route. */
export interface PlatformTarget {
  readonly serverUuid: string
  readonly ip: Option.Option<string>
  readonly local: boolean
}

const sameText = (a: string, b: string) => a.toLowerCase() === b.toLowerCase()

/**
 * Finds a server by name.
 * @param aliases addresses of the platform's own host
 * @param localIp address of a local server
 */
export const findPlatformServer = (
  servers: ReadonlyArray<PlatformServer>,
  name: string,
  aliases: ReadonlyArray<string>,
  localIp: string
): Either.Either<PlatformTarget, string> => {
  const server = servers.find((candidate) => candidate.name === name)
  if (server === undefined) {
    const names = servers.map((candidate) => JSON.stringify(candidate.name)).join(", ")
    return Either.left(
      `The platform has no server ${quoteInput(name)}: ${names === "" ? "it has none at all" : `there is ${names}`}`
    )
  }
  const ip = Option.filter(Option.fromNullable(server.ip), (address) => address !== "")
  const local = server.name === "localhost" ||
    Option.exists(ip, (address) => aliases.some((alias) => sameText(alias, address)))
  return Either.right({ serverUuid: server.uuid, local, ip: local ? Option.some(localIp) : ip })
}

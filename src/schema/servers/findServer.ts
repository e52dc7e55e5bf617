import { Either } from "effect"
import { ServerAmbiguous, ServerNotFound } from "./Server.ts"

interface Named {
  readonly id: string
  readonly name: string
}

/** Compares names regardless of case. */
export const isSameName = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase()

/** Finds the stored server with this id, or else the only one with this name. */
export const findServer = <A extends Named>(
  stored: ReadonlyArray<A>,
  idOrName: string
): Either.Either<A, ServerNotFound | ServerAmbiguous> => {
  const named = stored.filter(({ name }) => isSameName(name, idOrName))
  const found = stored.find(({ id }) => id === idOrName) ?? (named.length === 1 ? named[0] : undefined)
  if (found !== undefined) return Either.right(found)
  return Either.left(
    named.length > 1
      ? new ServerAmbiguous({ name: idOrName, ids: named.map(({ id }) => id) })
      : new ServerNotFound({ id: idOrName, stored })
  )
}

/** Shortest unambiguous reference to a stored server: its name, or its id when the name is not unique. */
export const formatServerReference = (stored: ReadonlyArray<Named>, { id, name }: Named): string =>
  Either.match(findServer(stored, name), {
    onLeft: () => id,
    onRight: (found) => found.id === id ? name : id
  })

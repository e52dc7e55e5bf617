import { Clock, Effect, Option, Ref } from "effect"
import { findServer, isSameName } from "../../../schema/servers/findServer.ts"
import type { Server, ServerInput } from "../../../schema/servers/Server.ts"
import { type ServerForbidden, ServerTaken } from "../../../schema/servers/ServerToStore.ts"
import { SettingsInvalid } from "../../../schema/Settings.ts"
import type { Edited, SettingsStore, Snapshot } from "../file/SettingsStore.ts"
import type { makeServerReader } from "../read/makeServerReader.ts"
import { secretFields, type StoredServer } from "../read/serverFields.ts"
import { parseSettingsDocument } from "../read/settingsDocument.ts"
import { buildNewServer, computePublicFields, computeServerChanges, pickPublicFields } from "./computeServerChanges.ts"
import type { ServerListChange } from "./serverRights.ts"
import { editServers, ServerEdit } from "./yaml/editServers.ts"

/** Options for adding a server to the settings file. */
export interface SaveOptions {
  /** Id of a server that is added; a generated number unless given. */
  readonly newId: string | undefined
  /** Fails with `ServerTaken` when another server has the same name. */
  readonly uniqueName: boolean
}

interface Saved {
  readonly server: Server
  /** Its index in the list. */
  readonly index: number
}

/** A server as it would be stored, and the text of the file with all its secrets. */
export interface ServerPlan extends Saved {
  readonly before: string
  readonly after: string
  /** Secret fields that the input sets. */
  readonly givenSecrets: ReadonlyArray<string>
}

/** Secret fields that an input sets. */
const givenSecrets = (input: ServerInput) =>
  secretFields.filter((field) => input[field] !== undefined && input[field] !== null)

/**
 * Writes servers to the settings file.
 * @param permit refuses an edit that the current caller may not make
 */
export const makeServerWriter = (
  { change, current, file }: SettingsStore,
  servers: ReturnType<typeof makeServerReader>,
  permit: (change: ServerListChange) => Effect.Effect<void, ServerForbidden>
) =>
  Effect.gen(function*() {
    const lastId = yield* Ref.make(0)

    /** Text after an edit of a server. An edit that would leave the file invalid, or is not permitted, fails. */
    const edited = ({ document, text }: Snapshot, id: string, edit: ServerEdit, line: number | null) =>
      Effect.gen(function*() {
        const reason = "cannot be changed by Berth without risk to the rest of the file: change it by hand"
        const result = yield* Effect.mapError(
          editServers(text, edit),
          () => new SettingsInvalid({ file, line, setting: "servers", reason })
        )
        const { servers: after } = yield* parseSettingsDocument(file, result)
        yield* permit({ before: (yield* document).servers, after, id })
        return Option.some(result)
      })

    /** Generates an id: the time in milliseconds, or the next free number. */
    const freshId = (isTaken: (id: string) => boolean) =>
      Effect.gen(function*() {
        let id = Math.max(yield* Clock.currentTimeMillis, (yield* Ref.get(lastId)) + 1)
        while (isTaken(String(id))) id += 1
        yield* Ref.set(lastId, id)
        return String(id)
      })

    /** Refuses an id or a name that could be mistaken for another stored server, if requested. */
    const refuseTaken = (
      stored: ReadonlyArray<StoredServer>,
      { id: ownId, name }: ServerInput,
      { newId, uniqueName }: SaveOptions
    ) =>
      Effect.gen(function*() {
        const all = yield* servers.named(stored)
        const others = all.filter(({ id }) => id !== ownId)
        const refuse = (what: "id" | "name", wanted: string) => {
          const by = others.find((other) => other.id === wanted || isSameName(other.name, wanted))
          return by === undefined ? Effect.void : new ServerTaken({ what, wanted, by: { id: by.id, name: by.name } })
        }
        if (newId !== undefined && others.length === all.length) yield* refuse("id", newId)
        if (uniqueName) yield* refuse("name", name)
      })

    const savedIn = (input: ServerInput, options: SaveOptions) => (snapshot: Snapshot) =>
      Effect.gen(function*() {
        const { servers: stored } = yield* snapshot.document
        yield* refuseTaken(stored, input, options)
        const old = yield* servers.withId(stored, input.id ?? "")
        if (Option.isNone(old)) {
          const ids = yield* servers.ids(stored)
          const id = options.newId ?? (yield* freshId((taken) => ids.includes(taken)))
          const edit = ServerEdit.Add({ fields: buildNewServer(id, input) })
          const answer: Edited<Saved> = [
            { server: { id, ...pickPublicFields(input) }, index: stored.length },
            yield* edited(snapshot, id, edit, null)
          ]
          return answer
        }
        const { index, stored: replaced } = old.value
        const known = yield* servers.known(old.value)
        const fields = computeServerChanges(replaced, known, input)
        const edit = ServerEdit.Change({ index, fields })
        const text = Object.keys(fields).length === 0
          ? Option.none()
          : yield* edited(snapshot, input.id ?? "", edit, replaced.line)
        const server = { id: input.id ?? "", ...computePublicFields(replaced, known, input) }
        const answer: Edited<Saved> = [{ server, index }, text]
        return answer
      })

    const save = (input: ServerInput, options: SaveOptions = { newId: undefined, uniqueName: false }) =>
      Effect.map(change(savedIn(input, options)), ({ server }) => server)

    const check = (input: ServerInput, options: SaveOptions) =>
      Effect.asVoid(Effect.flatMap(current, savedIn(input, options)))

    const plan = (input: ServerInput, options: SaveOptions) =>
      Effect.gen(function*() {
        const snapshot = yield* current
        const [saved, text] = yield* savedIn(input, options)(snapshot)
        const after = Option.getOrElse(text, () => snapshot.text)
        const planned: ServerPlan = { ...saved, before: snapshot.text, after, givenSecrets: givenSecrets(input) }
        return planned
      })

    const removeFrom = (idOrName: string) => (snapshot: Snapshot) =>
      Effect.gen(function*() {
        const { servers: stored } = yield* snapshot.document
        const withId = yield* servers.withId(stored, idOrName)
        const old = Option.isSome(withId) ? withId : yield* findServer(yield* servers.named(stored), idOrName).pipe(
          Effect.map(({ placed }) => Option.some(placed)),
          Effect.catchTag("ServerNotFound", () => Effect.succeedNone)
        )
        const text = Option.isNone(old) ? Option.none() : yield* edited(
          snapshot,
          yield* servers.idOf(old.value),
          ServerEdit.Remove({ index: old.value.index }),
          old.value.stored.line
        )
        const answer: Edited<void> = [undefined, text]
        return answer
      })
    // Without a settings file there is nothing to lock.
    const remove = (idOrName: string) =>
      Effect.flatMap(
        Effect.flatMap(current, removeFrom(idOrName)),
        ([, text]) => Option.isNone(text) ? Effect.void : change(removeFrom(idOrName))
      )

    return { check, plan, save, remove }
  })

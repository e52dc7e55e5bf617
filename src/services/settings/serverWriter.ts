import { Clock, Effect, Option, Ref } from "effect"
import { findServer, isSameName } from "../../schema/findServer.ts"
import type { Server, ServerInput } from "../../schema/Server.ts"
import { ServerTaken } from "../../schema/ServerToStore.ts"
import { SettingsInvalid } from "../../schema/Settings.ts"
import { newServer, replacedServer, shownBy } from "./serverChanges.ts"
import type { StoredServer } from "./serverFields.ts"
import type { serverReader } from "./serverReader.ts"
import { editServers, ServerEdit } from "./serverText.ts"
import type { StoringWishes } from "./Settings.ts"
import { settingsDocument } from "./settingsDocument.ts"
import type { Edited, SettingsStore, Snapshot } from "./SettingsStore.ts"

/** How servers are written to the settings file. */
export const serverWriter = ({ change, current, file }: SettingsStore, servers: ReturnType<typeof serverReader>) =>
  Effect.gen(function*() {
    const lastId = yield* Ref.make(0)

    /** The text after an edit; what would leave the file unreadable is not written. */
    const edited = (text: string, edit: ServerEdit, line: number | null) =>
      Effect.gen(function*() {
        const reason = "cannot be changed by Berth without risk to the rest of the file: change it by hand"
        const result = yield* Effect.mapError(
          editServers(text, edit),
          () => new SettingsInvalid({ file, line, setting: "servers", reason })
        )
        yield* settingsDocument(file, result)
        return Option.some(result)
      })

    /** The time in milliseconds, or the next number that no server has. */
    const freshId = (isTaken: (id: string) => boolean) =>
      Effect.gen(function*() {
        let id = Math.max(yield* Clock.currentTimeMillis, (yield* Ref.get(lastId)) + 1)
        while (isTaken(String(id))) id += 1
        yield* Ref.set(lastId, id)
        return String(id)
      })

    /** Refuses an id or a name that would be mistaken for another stored server, where the caller wants that. */
    const refuseTaken = (
      stored: ReadonlyArray<StoredServer>,
      { id: ownId, name }: ServerInput,
      { newId, uniqueName }: StoringWishes
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

    const check = (input: ServerInput, wishes: StoringWishes) =>
      Effect.gen(function*() {
        const { servers: stored } = yield* (yield* current).document
        yield* refuseTaken(stored, input, wishes)
      })

    const save = (input: ServerInput, wishes: StoringWishes = { newId: undefined, uniqueName: false }) =>
      change((snapshot: Snapshot) =>
        Effect.gen(function*() {
          const { servers: stored } = yield* snapshot.document
          yield* refuseTaken(stored, input, wishes)
          const old = yield* servers.withId(stored, input.id ?? "")
          if (Option.isNone(old)) {
            const ids = yield* servers.ids(stored)
            const id = wishes.newId ?? (yield* freshId((taken) => ids.includes(taken)))
            const edit = ServerEdit.Add({ fields: newServer(id, input) })
            const answer: Edited<Server> = [{ id, ...shownBy(input) }, yield* edited(snapshot.text, edit, null)]
            return answer
          }
          const { index, stored: replaced } = old.value
          const fields = replacedServer(replaced, yield* servers.known(old.value), input)
          const edit = ServerEdit.Change({ index, fields })
          const text = Object.keys(fields).length === 0
            ? Option.none()
            : yield* edited(snapshot.text, edit, replaced.line)
          const answer: Edited<Server> = [{ id: input.id ?? "", ...shownBy(input) }, text]
          return answer
        })
      )

    const removeFrom = (idOrName: string) => (snapshot: Snapshot) =>
      Effect.gen(function*() {
        const { servers: stored } = yield* snapshot.document
        const withId = yield* servers.withId(stored, idOrName)
        const old = Option.isSome(withId) ? withId : yield* findServer(yield* servers.named(stored), idOrName).pipe(
          Effect.map(({ placed }) => Option.some(placed)),
          Effect.catchTag("ServerNotFound", () => Effect.succeedNone)
        )
        const text = Option.isNone(old) ? Option.none() : yield* edited(
          snapshot.text,
          ServerEdit.Remove({ index: old.value.index }),
          old.value.stored.line
        )
        const answer: Edited<void> = [undefined, text]
        return answer
      })
    // One that is not there needs neither a lock nor a directory to put one in.
    const remove = (idOrName: string) =>
      Effect.flatMap(
        Effect.flatMap(current, removeFrom(idOrName)),
        ([, text]) => Option.isNone(text) ? Effect.void : change(removeFrom(idOrName))
      )

    return { check, save, remove }
  })

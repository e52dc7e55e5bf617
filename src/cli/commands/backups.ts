import { Effect, Option } from "effect"
import { Berth } from "../../client/Berth.ts"
import { describeBackupPlaces } from "../../schema/backups.ts"
import { formatBytes } from "../../schema/words.ts"
import { defineServiceCommand, showAnswer, yes } from "../options.ts"
import { confirmChange, escapeInline, exitCodes, Failed, formatTable, Screen, Usage } from "../output.ts"
import { argument, describeMissing, flagOption, optionalArgument, textOption } from "../parse.ts"
import { formatRestore } from "../plans.ts"
import { followRun } from "../runView.ts"
import {
  confirmOption,
  describeLocation,
  locateNamedStack,
  locationOptions,
  pickStackLocation,
  resolveProjectBefore
} from "../stackLocation.ts"

const project = optionalArgument("project", "Its name under the projects root, or its path.", "project")
const itemsOf = (item: Option.Option<string>) =>
  Option.match(item, { onNone: () => ({}), onSome: (item) => ({ items: [item] }) })

const backupCommand = defineServiceCommand(
  {
    name: "backup",
    summary: "Back up the databases and volumes of a project, as its container.json names them.",
    details:
      "It stays on the server, and is copied to the places that container.json names. Services that are stopped meanwhile " +
      "are started again by the server itself.",
    examples: ["berth backup hello", "berth backup hello database"]
  },
  {
    project,
    item: optionalArgument("item", "One item of backups in container.json; all of them unless named."),
    ...locationOptions
  },
  Effect.fnUntraced(function*(input) {
    const { print, say } = yield* Screen
    const place = yield* locateNamedStack(input.project, input)
    const { body, value } = yield* followRun((api) =>
      api.backup({ payload: { ...pickStackLocation(place), ...itemsOf(input.item) } })
    )
    if (input.json) yield* print(body)
    yield* say(escapeInline(value.message))
    return value.success ? exitCodes.done : exitCodes.failed
  })
)

const backupsCommand = defineServiceCommand(
  {
    name: "backups",
    summary: "List the backups of a project, or verify one.",
    details:
      "PLACES names those of its copies beside the server. With --verify it reads a backup on its server, compares every " +
      "byte with its hash, and ends with 2 when one differs.",
    examples: ["berth backups hello", "berth backups hello 12 --verify"]
  },
  {
    project,
    backup: optionalArgument("backup", "The id of one backup."),
    verify: flagOption("verify", "Read it and compare it with its hashes."),
    ...locationOptions
  },
  Effect.fnUntraced(function*(input) {
    const { answer } = yield* Berth
    const { out, print, say } = yield* Screen
    if (input.verify && Option.isNone(input.backup)) {
      return yield* new Usage({ message: "--verify needs the id of a backup, which berth backups lists" })
    }
    const place = yield* locateNamedStack(input.project, input)
    if (input.verify && Option.isSome(input.backup)) {
      const backup = input.backup.value
      const { body, value } = yield* answer((api) =>
        api.verifyBackup({ payload: { ...pickStackLocation(place), backup } })
      )
      yield* print(
        input.json ? body : formatTable(["ITEM", "STATE"], value.items.map(({ name, state }) => [name, state]), out)
      )
      return value.whole ? exitCodes.done : exitCodes.differs
    }
    const { remotePath, serverId } = place
    return yield* showAnswer(
      input,
      (api) => api.listBackups({ path: { id: serverId }, urlParams: { remotePath } }),
      ({ backups, warnings }) => {
        const shown = backups.filter(({ id }) => Option.getOrElse(input.backup, () => id) === id)
        if (shown.length === 0 && backups.length > 0) {
          const known = backups.map(({ id }) => id).join(", ")
          return new Failed({ message: `There is no such backup. Known: ${known}` })
        }
        const table = shown.length === 0
          ? say("No backup: berth backup takes one.")
          : print(formatTable(
            ["BACKUP", "AT", "RELEASE", "BY", "FOR", "ITEMS", "PLACES"],
            shown.map(({ by, copies, id, items, onServer, release, takenAt, trigger }) => [
              id,
              takenAt,
              release ?? "",
              by,
              trigger,
              items.map(({ bytes, name }) => `${name} ${formatBytes(bytes)}`).join(", "),
              describeBackupPlaces({ copies, onServer })
            ]),
            out
          ))
        return Effect.zipRight(
          table,
          Effect.forEach(warnings, (warning) => say(escapeInline(warning)), { discard: true })
        )
      }
    )
  })
)

const restored = argument("backup", "The id of a backup; berth backups lists them.")

const restoreCommand = defineServiceCommand(
  {
    name: "restore",
    summary: "Put the data of a backup back.",
    details:
      "Shows what would be lost, asks, verifies every byte, keeps what is there now as another backup, and puts the data back. " +
      "Where that fails, what was there comes back.",
    examples: ["berth restore hello 12", "berth restore 12 --item database --dry-run"]
  },
  {
    project,
    backup: restored,
    item: textOption("item", "One item of it; all of them unless named.", { value: "ITEM" }),
    dryRun: flagOption("dry-run", "Show what would be lost, and change nothing."),
    discard: flagOption(
      "discard",
      "Restore even where the data of now cannot be kept, for example since it is broken."
    ),
    yes,
    confirm: confirmOption,
    ...locationOptions
  },
  Effect.fnUntraced(function*(input) {
    const { answer } = yield* Berth
    const { print, say } = yield* Screen
    const missing = describeMissing("berth restore", restored.argument)
    const projectPath = yield* resolveProjectBefore(input.project, input.backup, missing)
    const place = yield* locateNamedStack(Option.some(projectPath), input)
    const wanted = { ...pickStackLocation(place), backup: input.backup, ...itemsOf(input.item) }
    const planned = yield* answer((api) => api.planRestore({ payload: wanted }))
    const { backup, planHash } = planned.value
    const question = `Restore backup ${escapeInline(backup.id)} at ${describeLocation(place)}`
    const lines = [
      `${question}:`,
      ...formatRestore(planned.value)
    ].join("\n")
    if (input.dryRun) {
      yield* print(input.json ? planned.body : lines)
      return exitCodes.done
    }
    yield* say(lines)
    const confirmed = yield* confirmChange(`${question}?`, input, place)
    if (Option.isNone(confirmed)) return exitCodes.failed
    const { body, value } = yield* followRun((api) =>
      api.restore({ payload: { ...wanted, ...confirmed.value, planHash, discard: input.discard } })
    )
    if (input.json) yield* print(body)
    yield* say(escapeInline(value.message))
    return value.success ? exitCodes.done : exitCodes.failed
  })
)

export const backupsCommands = [backupCommand, backupsCommand, restoreCommand]

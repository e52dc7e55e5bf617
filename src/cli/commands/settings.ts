import { Effect, Either, Option, Redacted } from "effect"
import { Berth } from "../../client/Berth.ts"
import { settingDefinitions, type SettingName } from "../../schema/settings.ts"
import type { ProjectsRoot, Setting, SettingJson } from "../../schema/settingsList.ts"
import { pluralize, quoteInput, suggestNearest } from "../../schema/words.ts"
import { defineServiceCommand, showAnswer, yes } from "../options.ts"
import { confirm, escapeInline, exitCodes, Failed, formatFileChange, printTable, Screen, Usage } from "../output.ts"
import { argument, defineCommandGroup, flagOption, optionalArgument } from "../parse.ts"

const formatSetting = (value: SettingJson): string =>
  value === null ? "" : typeof value === "object" ? value.join(",") : String(value)

const name = argument("name", "The name of a setting: deploy.keepReleases.")

const listCommand = defineServiceCommand(
  {
    name: "list",
    summary: "List every setting, where its value comes from, and what is wrong with it.",
    examples: ["berth settings list"]
  },
  {},
  (input) =>
    showAnswer(input, (api) => api.listSettings({}), ({ file, settings }) =>
      Effect.gen(function*() {
        const { say } = yield* Screen
        yield* printTable(
          "There are no settings.",
          ["NAME", "VALUE", "SOURCE"],
          settings.map(({ name, source, value }) => [name, formatSetting(value), source === "none" ? "" : source])
        )
        for (const { problem } of settings) if (problem !== null) yield* say(escapeInline(problem))
        yield* say(escapeInline(`The settings file is ${file}. Servers: berth server list.`))
      }))
)

/** Finds a setting by its name in a list. */
const settingNamed = (settings: ReadonlyArray<Setting>, wanted: string): Either.Either<Setting, Failed> =>
  Either.fromNullable(settings.find(({ name }) => name === wanted), () =>
    new Failed({
      message: `${quoteInput(wanted)} is not a setting.${suggestNearest(wanted, settings.map(({ name }) => name))} ` +
        "berth settings list names them"
    }))

const getCommand = defineServiceCommand(
  {
    name: "get",
    summary: "Print the value of a setting; *** for a secret.",
    examples: ["berth settings get deploy.keepReleases"]
  },
  { name },
  Effect.fnUntraced(function*(input) {
    const { print } = yield* Screen
    const { settings } = yield* (yield* Berth).use((api) => api.listSettings({}))
    const setting = yield* settingNamed(settings, input.name)
    if (setting.problem !== null) return yield* new Failed({ message: setting.problem })
    yield* print(input.json ? JSON.stringify(setting, null, 2) : escapeInline(formatSetting(setting.value)))
    return exitCodes.done
  })
)

const isSettingName = (text: string): text is SettingName => Object.hasOwn(settingDefinitions, text)

/** Parses a value of the command line; splits it at commas for a setting that takes a list. */
const settingValue = (setting: string, text: string): SettingJson => {
  if (!isSettingName(setting)) return text
  const fits = (value: unknown) => {
    const decoded: Either.Either<unknown, unknown> = settingDefinitions[setting].decode(value)
    return Either.isRight(decoded)
  }
  return !fits(text) && fits(["a"]) ? text.split(",").map((item) => item.trim()) : text
}

/** Describes the projects root before a change. */
const describeRoot = ({ path, projects, standing }: ProjectsRoot, creates: boolean): string => {
  switch (standing) {
    case "usable":
      return `${path} has ${pluralize(projects, "project")}.`
    case "missing":
      return creates ? `${path} will be created.` : `${path} does not exist: --create creates it.`
    case "not a directory":
      return `${path} is not a directory.`
    case "unreadable":
      return `${path} cannot be read by the user that runs Berth.`
  }
}

const setCommand = defineServiceCommand(
  {
    name: "set",
    summary: "Change a setting in the settings file, after its diff.",
    details:
      "Only the lines of that setting change. A list is written with commas. ${env:NAME} and ${file:PATH} are looked up " +
      "when they are used: write passwords and tokens like that, since other users see command lines.",
    examples: [
      "berth settings set deploy.keepReleases 3",
      "berth settings set platform.token '${env:PLATFORM_TOKEN}'",
      "berth settings set projects.root ~/projects --create",
      "berth settings set proxy.subnet --unset"
    ]
  },
  {
    name,
    value: optionalArgument("value", "Its new value."),
    unset: flagOption("unset", "Remove it, so that its default holds."),
    create: flagOption("create", "Create the directory of projects.root where it is missing."),
    yes
  },
  Effect.fnUntraced(function*(input) {
    if (input.unset === Option.isSome(input.value)) {
      return yield* new Usage({ message: "A new value is needed, or --unset to remove the setting" })
    }
    const { out, print, say } = yield* Screen
    const value = Option.getOrNull(Option.map(input.value, (text) => settingValue(input.name, text)))
    const payload = { settings: { [input.name]: value }, createDirectory: input.create }
    const plan = yield* (yield* Berth).use((api) => api.changeSettings({ payload, urlParams: { plan: "true" } }))
    if (plan.changed && !input.json) yield* print(formatFileChange(plan.file, plan.diff, out))
    if (plan.projectsRoot !== undefined && !input.json) {
      yield* say(escapeInline(describeRoot(plan.projectsRoot, input.create)))
    }
    if (plan.changed && !(yield* confirm(`Change ${escapeInline(plan.file)}?`, input.yes))) return exitCodes.failed
    return yield* showAnswer(
      input,
      (api) => api.changeSettings({ payload, urlParams: {} }),
      ({ changed }) => say(changed ? `Changed ${escapeInline(input.name)}.` : "It is set like that already.")
    )
  })
)

export const settingsCommands = [
  defineCommandGroup({ name: "settings", summary: "The settings file: list, get, set." }, [
    listCommand,
    getCommand,
    setCommand
  ])
]

const listTargetsCommand = defineServiceCommand(
  {
    name: "list",
    summary: "List the targets of notifications, and what keeps each from being told.",
    examples: ["berth notify list"]
  },
  {},
  (input) =>
    showAnswer(input, (api) => api.listSettings({}), ({ file, notify }) =>
      Effect.gen(function*() {
        const { say } = yield* Screen
        yield* printTable(
          `${file} names no targets: add a list notify.`,
          ["NAME", "FORMAT", "EVENTS"],
          notify.map(({ events, format, name }) => [name, format, events.join(", ")])
        )
        for (const { problem } of notify) if (problem !== null) yield* say(escapeInline(problem))
      }))
)

const testCommand = defineServiceCommand(
  {
    name: "test",
    summary: "Send a test to one target, and say whether its receiver took it.",
    examples: ["berth notify test team"]
  },
  { name: argument("name", "The name of a target of the setting notify.") },
  (input) =>
    showAnswer(
      input,
      (api) => api.testNotify({ path: { name: input.name } }),
      ({ milliseconds, name, status }) =>
        Effect.flatMap(
          Screen,
          ({ say }) => say(escapeInline(`${name} was told: its receiver answered ${status} after ${milliseconds} ms.`))
        )
    )
)

export const notifyCommands = [
  defineCommandGroup({ name: "notify", summary: "Notifications about the end of runs: list, test." }, [
    listTargetsCommand,
    testCommand
  ])
]

const listTokensCommand = defineServiceCommand(
  {
    name: "list",
    summary: "List the tokens that let callers in, with their roles.",
    examples: ["berth token list"]
  },
  {},
  (input) =>
    showAnswer(input, (api) => api.listTokens({}), ({ file, tokens }) =>
      Effect.gen(function*() {
        const { say } = yield* Screen
        yield* printTable(
          `${file} names no token: every program on this machine is let in. Add one with berth token add NAME.`,
          ["NAME", "ROLE", "SETTING"],
          tokens.map(({ name, role, setting }) => [name, role ?? "?", setting])
        )
        for (const { problem } of tokens) if (problem !== null) yield* say(escapeInline(problem))
      }))
)

const addTokenCommand = defineServiceCommand(
  {
    name: "add",
    summary: "Make a token for a person, a script or an agent, and print it once.",
    details:
      "It goes into http.tokens of the settings file, and no other line of the file changes. An operator's token may " +
      "do everything but what is for the user of the service's machine, with --viewer it only reads. With the first " +
      "token every caller needs one, except commands of this user on this machine; berth open logs its browser in.",
    examples: ["berth token add ann --viewer", "berth token add ci >token"]
  },
  {
    name: argument("name", "Its name; the runs that it starts carry it."),
    viewer: flagOption("viewer", "It reads, and changes nothing."),
    yes
  },
  Effect.fnUntraced(function*(input) {
    const { print, say } = yield* Screen
    const { onAdd } = yield* (yield* Berth).use((api) => api.listTokens({}))
    if (onAdd !== null && !input.yes) {
      yield* say(escapeInline(`${onAdd}.`))
      if (!(yield* confirm("Add it?", false))) return exitCodes.failed
    }
    const payload = { name: input.name, role: input.viewer ? "viewer" : "operator" } as const
    yield* showAnswer(
      input,
      (api) => api.addToken({ payload }),
      ({ consequence, file, name, role, token }) =>
        Effect.gen(function*() {
          yield* print(Redacted.value(token))
          yield* say(escapeInline(`Added ${name} as ${role} to ${file}. Its token is shown this once.`))
          if (consequence !== null) yield* say(escapeInline(`${consequence}.`))
        })
    )
    return exitCodes.done
  })
)

const removeTokenCommand = defineServiceCommand(
  {
    name: "remove",
    summary: "Remove a token: its holder is refused from then on, and its browser sessions end.",
    examples: ["berth token remove ann"]
  },
  { name: argument("name", "The name of a token, see berth token list."), yes },
  Effect.fnUntraced(function*(input) {
    const { say } = yield* Screen
    const { onRemove, tokens } = yield* (yield* Berth).use((api) => api.listTokens({}))
    if (tokens.some(({ name }) => name === input.name)) {
      if (onRemove !== null && !input.yes) yield* say(escapeInline(`${onRemove}.`))
      if (!(yield* confirm(`Remove the token ${escapeInline(input.name)}?`, input.yes))) return exitCodes.failed
    }
    yield* showAnswer(
      input,
      (api) => api.removeToken({ path: { name: input.name } }),
      ({ consequence, file, name }) =>
        Effect.gen(function*() {
          yield* say(escapeInline(`Removed ${name} from ${file}.`))
          if (consequence !== null) yield* say(escapeInline(`${consequence}.`))
        })
    )
    return exitCodes.done
  })
)

export const tokensCommands = [
  defineCommandGroup({ name: "token", summary: "Tokens that let callers in: list, add, remove." }, [
    listTokensCommand,
    addTokenCommand,
    removeTokenCommand
  ])
]

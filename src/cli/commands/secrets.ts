import { Effect, Option, Redacted } from "effect"
import { join } from "node:path"
import { Berth } from "../../client/Berth.ts"
import { containerConfigName, ProjectFileInvalid } from "../../schema/projects.ts"
import { describeUndeclaredSecret, type ProjectSecrets } from "../../schema/secrets.ts"
import { pluralize } from "../../schema/words.ts"
import { defineServiceCommand, showAnswer } from "../options.ts"
import { escapeInline, exitCodes, Failed, printTable, Screen } from "../output.ts"
import { argument, defineCommandGroup, describeMissing, optionalArgument, repeatedArgument } from "../parse.ts"
import { env, pickEnvironment, resolveProject, resolveProjectBefore } from "../stackLocation.ts"

const project = optionalArgument("project", "Its name under the projects root, or its path.", "project")

const printSecrets = ({ projectPath, secrets }: ProjectSecrets) =>
  printTable(
    `${escapeInline(projectPath)} declares no secrets: see docs/secrets.md.`,
    ["NAME", "SOURCE", "AS", "SERVICES"],
    secrets.map(({ as, name, services, source }) => [name, source, as, services.join(", ")])
  )

const listCommand = defineServiceCommand(
  {
    name: "list",
    summary: "List the secrets of a project: source and services. Runs nothing and decrypts nothing.",
    examples: ["berth secrets list", "berth secrets list shop --json"]
  },
  { project, env },
  (input) =>
    Effect.gen(function*() {
      const projectPath = yield* resolveProject(input.project)
      return yield* showAnswer(input, (api) =>
        api.listSecrets({ urlParams: { projectPath, ...pickEnvironment(input) } }), printSecrets)
    })
)

const checkCommand = defineServiceCommand(
  {
    name: "check",
    summary: "Resolve every secret of a project, and print none.",
    details: "Runs the programs and decrypts the age files. Exit codes: 0 when all have a value, 1 otherwise.",
    examples: ["berth secrets check shop"]
  },
  { project, env },
  Effect.fnUntraced(function*(input) {
    const { print, say } = yield* Screen
    const projectPath = yield* resolveProject(input.project)
    const { body, value } = yield* (yield* Berth).answer((api) =>
      api.checkSecrets({ payload: { projectPath, ...pickEnvironment(input) } })
    )
    const failed = value.secrets.filter(({ problem }) => problem !== undefined)
    if (input.json) yield* print(body)
    else {
      yield* printSecrets(value)
      for (const { name, problem = "" } of failed) yield* say(escapeInline(`${name}: ${problem}`))
      if (failed.length === 0 && value.secrets.length > 0) {
        yield* say(`${pluralize(value.secrets.length, "secret")} resolved.`)
      }
    }
    return failed.length === 0 ? exitCodes.done : exitCodes.failed
  })
)

const secretName = argument("name", "The name of the secret.")

const setCommand = defineServiceCommand(
  {
    name: "set",
    summary: "Encrypt a secret into its age file.",
    details:
      "Reads the value from the terminal without showing it, or from standard input: other users see command lines. The " +
      "secret is one of container.json with an age file, which is created if it does not exist.",
    examples: ["berth secrets set STRIPE_KEY", "pass show shop/stripe | berth secrets set shop STRIPE_KEY"]
  },
  { project, name: secretName, env },
  Effect.fnUntraced(function*(input) {
    const { askSecretly, say } = yield* Screen
    const { answer } = yield* Berth
    const missing = describeMissing("berth secrets set", secretName.argument)
    const projectPath = yield* resolveProjectBefore(input.project, input.name, missing)
    const declared = (yield* answer((api) =>
      api.listSecrets({ urlParams: { projectPath, ...pickEnvironment(input) } })
    )).value.secrets.map(({ name }) => name)
    if (!declared.includes(input.name)) {
      const reason = describeUndeclaredSecret(input.name, declared)
      const { message } = new ProjectFileInvalid({ file: join(projectPath, containerConfigName), reason })
      return yield* new Failed({ message })
    }
    const value = yield* askSecretly(`Value of ${escapeInline(input.name)}:`)
    if (Redacted.value(value) === "") return yield* new Failed({ message: "The value is empty: nothing was changed" })
    const payload = { projectPath, ...pickEnvironment(input), name: input.name, value }
    return yield* showAnswer(
      input,
      (api) => api.setSecret({ payload }),
      ({ recipients }) => say(`${escapeInline(input.name)} is set, for ${pluralize(recipients.length, "recipient")}.`)
    )
  })
)

const printRecipients = ({ recipients }: ProjectSecrets) =>
  printTable(
    "No public keys yet: add one with berth secrets recipients add.",
    ["RECIPIENT"],
    recipients.map((key) => [key])
  )

const listRecipientsCommand = defineServiceCommand(
  {
    name: "list",
    summary: "List the public keys that can read the age files of a project.",
    examples: ["berth secrets recipients list shop"]
  },
  { project, env },
  (input) =>
    Effect.gen(function*() {
      const projectPath = yield* resolveProject(input.project)
      return yield* showAnswer(input, (api) =>
        api.listSecrets({ urlParams: { projectPath, ...pickEnvironment(input) } }), printRecipients)
    })
)

const publicKey = argument("key", "A public key of age (age1…), or an Ed25519 key of SSH in quotation marks.")
const isPublicKey = (word: string) => /^(?:age1|ssh-)/.test(word)

const defineChange = (change: "add" | "remove", summary: string, details: string) =>
  defineServiceCommand(
    {
      name: change,
      summary,
      details,
      examples: [
        `berth secrets recipients ${change} shop age1…`,
        `berth secrets recipients ${change} shop "$(cat ~/.ssh/id_ed25519.pub)"`
      ]
    },
    {
      project,
      key: publicKey,
      keys: repeatedArgument("more", "More public keys."),
      env
    },
    Effect.fnUntraced(function*(input) {
      const missing = describeMissing(`berth secrets recipients ${change}`, publicKey.argument)
      const [own, project] = Option.isSome(input.project) && isPublicKey(input.project.value)
        ? [[input.project.value], Option.none()]
        : [[], input.project]
      const projectPath = yield* isPublicKey(input.key)
        ? resolveProject(project)
        : resolveProjectBefore(project, input.key, missing)
      const payload = { projectPath, ...pickEnvironment(input), [change]: [...own, input.key, ...input.keys] }
      return yield* showAnswer(input, (api) => api.changeRecipients({ payload }), printRecipients)
    })
  )

const recipientsGroup = defineCommandGroup(
  { name: "recipients", summary: "Public keys that can read the age files of a project: list, add, remove." },
  [
    listRecipientsCommand,
    defineChange(
      "add",
      "Let public keys read the age files of a project.",
      "The files are encrypted anew for all of them."
    ),
    defineChange(
      "remove",
      "Keep public keys from reading the age files of a project.",
      "The files are encrypted anew. Who is removed keeps what was read: set the secrets anew, too."
    )
  ]
)

export const secretsCommands = [
  defineCommandGroup({ name: "secrets", summary: "Secrets of a project: list, check, set, recipients." }, [
    listCommand,
    checkCommand,
    setCommand,
    recipientsGroup
  ])
]

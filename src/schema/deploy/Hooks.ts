import { Schema } from "effect"
import { DurationText } from "../basics/DurationText.ts"
import { text, texts } from "../words/describedFields.ts"

const mostArguments = 100
const mostCommands = 20

/** Argument of a command; sent as a line, so that control characters are refused. */
const Argument = Schema.String.pipe(
  Schema.filter((text) =>
    // oxlint-disable-next-line no-control-regex
    (!/[\u0000-\u001f\u007f]/.test(text) && text.length <= 4_096) ||
    "must be a line of up to 4096 characters without control characters"
  )
)

/** Program with its arguments, executed without a shell. */
export const HookCommand = Schema.NonEmptyArray(Argument).pipe(
  Schema.filter((words) =>
    (words[0] !== "" && words.length <= mostArguments) || "must begin with a program, and have up to 100 items"
  )
).annotations({ identifier: "HookCommand" })

const LocalCommands = Schema.Array(HookCommand).pipe(Schema.maxItems(mostCommands))
const optional = <A, I>(schema: Schema.Schema<A, I>) => Schema.optional(Schema.NullOr(schema))

/** Commands around a deploy, as `container.json` declares them. */
export const DeployHooks = Schema.Struct({
  beforeDeploy: optional(LocalCommands),
  beforeStart: optional(Schema.Struct({ service: Schema.String, command: HookCommand })),
  afterDeploy: optional(LocalCommands),
  timeout: optional(DurationText)
})
export interface DeployHooks extends Schema.Schema.Type<typeof DeployHooks> {}

/** Names of the hooks and of their steps. */
export const HookName = Schema.Literal("beforeDeploy", "beforeStart", "afterDeploy")
export type HookName = typeof HookName.Type

/** Planned command of a hook. */
export const PlannedHook = Schema.Struct({
  when: HookName.annotations({ description: "Its hook." }),
  service: Schema.optionalWith(text("Service whose new image it runs in.", "web"), { exact: true }),
  command: texts("Program and arguments.", ["npm", "run", "migrate"])
}).annotations({ identifier: "PlannedHook" })
export interface PlannedHook extends Schema.Schema.Type<typeof PlannedHook> {}

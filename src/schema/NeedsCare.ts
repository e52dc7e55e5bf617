import { Schema } from "effect"
import { text } from "./words/describedFields.ts"

/** Kinds of problems, in order of cause: a later one may follow from an earlier one. */
export const CareKind = Schema.Literal("server", "files", "run", "stack", "route", "application", "disk")
export type CareKind = typeof CareKind.Type

const about = (description: string) => Schema.optionalWith(Schema.String, { exact: true }).annotations({ description })

/** Problem found by the overview, with the next action. */
export const NeedsCare = Schema.Struct({
  kind: CareKind.annotations({
    description:
      "A server that cannot be used, a file of a project that cannot be read, a failed last run, a stack that is not well, " +
      "a route that leads nowhere, an application that differs from its declaration, or a disk that is nearly full."
  }),
  severity: Schema.Literal("bad", "warn").annotations({
    description: "bad: something does not work; warn: something should be looked at."
  }),
  name: text("The project, application, server or route that it is about.", "hello"),
  reason: text("The cause.", "is degraded: web is Restarting (1) 3 seconds ago"),
  action: text("The next action.", "Read its log"),
  projectPath: about("The directory of the project."),
  serverId: about("The id of the server."),
  remotePath: about("The remote path of the stack."),
  appName: about("The name of the application."),
  runId: about("The id of the run."),
  observedAt: text("When it was observed, in UTC.", "2026-01-02T03:04:05.678Z")
}).annotations({ identifier: "NeedsCare" })
export interface NeedsCare extends Schema.Schema.Type<typeof NeedsCare> {}

/** Describes a problem in one line. */
export const describeCare = ({ name, reason }: Pick<NeedsCare, "name" | "reason">): string =>
  `${name}${/^(?:is|has|does|leads|lacks) /.test(reason) ? " " : ": "}${reason}`

/** True if less than 2 GB or a tenth of a disk is free: images of a deploy take hundreds of megabytes. */
export const isNearlyFull = (
  { freeBytes, totalBytes }: { readonly freeBytes: number; readonly totalBytes: number }
): boolean => freeBytes < 2_000_000_000 || freeBytes < totalBytes / 10

import { Effect } from "effect"
import { Berth } from "../client/Berth.ts"
import { BerthError } from "../client/BerthError.ts"
import { buildToolSchema } from "./answers/buildToolSchema.ts"
import { escapeFields } from "./answers/escapedData.ts"
import { fitToBudget } from "./answers/fitToBudget.ts"
import { RunBrief, summarizeRun } from "./answers/runOutcome.ts"
import { guide, guideUri } from "./guide.ts"

/** Resources with a fixed address. */
export const resources = [
  { uri: guideUri, name: "guide", title: "Working with Berth", mimeType: "text/markdown" }
]

/** Resources whose address has a parameter. */
export const resourceTemplates = [
  { uriTemplate: "berth://runs/{id}", name: "run", title: "A run", mimeType: "application/json" }
]

const runIn = /^berth:\/\/runs\/([A-Za-z0-9-]{1,100})$/

/** Reads a resource; an unknown address fails with status 404. */
export const readResource = (uri: string) =>
  Effect.gen(function*() {
    if (uri === guideUri) return { uri, mimeType: "text/markdown", text: guide }
    const id = runIn.exec(uri)?.[1]
    if (id === undefined) {
      const known = [guideUri, ...resourceTemplates.map(({ uriTemplate }) => uriTemplate)].join(", ")
      const message = `There is no such resource. Known resources: ${known}`
      return yield* new BerthError({ reason: "refused", status: 404, message })
    }
    const berth = yield* Berth
    const run = yield* berth.use((api) => api.getRun({ path: { id } }))
    const brief = fitToBudget(escapeFields(summarizeRun(run)), buildToolSchema(RunBrief, { described: false }))
    return { uri, mimeType: "application/json", text: JSON.stringify(brief) }
  })

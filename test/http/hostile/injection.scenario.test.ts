import { describe, expect, it } from "@effect/vitest"
import { Console, Duration, Effect } from "effect"
import { cp } from "node:fs/promises"
import { join } from "node:path"
import { complaint, confinedService } from "../../fixtures/hostile/confined.ts"
import {
  addressOf,
  type Field,
  type Operation,
  operations,
  type Parts,
  valueAt,
  withValue
} from "../../fixtures/hostile/operations.ts"
import { patience } from "../../fixtures/patience.ts"
import { tellRan } from "../../fixtures/ran.ts"
import { inPart, inTurn } from "../../fixtures/thorough.ts"

// Any shell that runs one of these leaves a file of this name.
const canary = "owned"
const hostile: ReadonlyArray<string> = [
  `$(touch ${canary})`,
  `\`touch ${canary}\``,
  `; touch ${canary}; :`,
  `| touch ${canary} #`,
  `'; touch ${canary}; '`,
  `"; touch ${canary}; "`,
  `a\ntouch ${canary}\n`,
  `a\0touch ${canary}`,
  `--checkpoint-action=exec=touch ${canary}`,
  "--help",
  "-rf",
  "../../up",
  "..",
  "~root",
  "%2e%2e%2fup",
  "%2e%2e",
  "․․/beside",
  "‥／beside",
  "x`) || PathPrefix(`/",
  "a: {b: [*x",
  "\uFEFF\u202E\u0000",
  "x".repeat(64 * 1024)
]

/** A hostile text as a value of its own, and as the end of one that is sound. */
const variants = (sound: unknown, text: string): ReadonlyArray<string> => {
  if (typeof sound !== "string") return [text]
  return [text, sound.includes("/") ? `${sound.slice(0, sound.lastIndexOf("/") + 1)}${text}` : `${sound}${text}`]
}

interface Case {
  readonly field: Field
  readonly parts: Parts
}

// Requests that reach the server one by one are slow: a part of the texts has to do.
const isSlow = ({ name }: Operation) =>
  /\/(deploy|plan|pull|editor-diff|rollback|stop|start|restart|remove|verify)$/.test(name)
const some = (texts: ReadonlyArray<string>) => texts.filter((_, index) => index % 4 === 0)

// In a part of the run every text is still tried in some fields, and every field with some texts.
const everyNth = inPart(5, 15)
const tried = (operation: Operation, at: number) => {
  const texts = isSlow(operation) ? some(hostile) : hostile
  const nth = Math.min(everyNth, texts.length)
  return texts.filter((_, index) => (index + at) % nth === 0)
}

const casesOf = (sound: Parts, operation: Operation, from: number): ReadonlyArray<Case> =>
  operation.fields.flatMap((field, at) =>
    tried(operation, from + at).flatMap((text) =>
      inTurn(variants(valueAt(sound, field), text), from + at).map((value) => ({
        field,
        parts: withValue(sound, field, value)
      }))
    )
  )

// Names that a directory can have: projects of such names make the endpoints go all the way.
const isName = (text: string) => !/[\0/]/.test(text) && text.length < 200 && text !== ".."

describe.skipIf(process.platform === "win32")("hostile text", () => {
  it.scopedLive(
    "does nothing but get an answer, in every field of every endpoint",
    (context) =>
      Effect.gen(function*() {
        const { filesNamed, forgetServer, request, secrets, sound, strayCalls, world } = yield* confinedService
        expect(Object.keys(sound).sort()).toEqual(operations.map(({ name }) => name).sort())
        const hello = join(world.projects, "hello")
        yield* Effect.forEach(
          hostile.filter(isName),
          (name) => Effect.promise(() => cp(hello, join(world.projects, name), { recursive: true }))
        )

        const cases = operations.flatMap((operation, at) =>
          casesOf(sound[operation.name] ?? {}, operation, at).map((each) => ({ operation, ...each }))
        )
        const complaints = yield* Effect.forEach(cases, ({ field, operation, parts }) =>
          request(operation.method, addressOf(operation, parts), parts.body).pipe(
            Effect.tap(forgetServer),
            Effect.map((reply) =>
              complaint(reply, secrets)
            ),
            Effect.timeoutTo({
              duration: Duration.minutes(2),
              onSuccess: (said) => said,
              onTimeout: () => "no answer"
            }),
            Effect.map((said) =>
              said === undefined
                ? []
                : [
                  `${operation.name} ${field.join(".")} ${JSON.stringify(valueAt(parts, field)).slice(0, 80)}: ${said}`
                ]
            )
          ), { concurrency: 6 })
        expect(complaints.flat()).toEqual([])
        expect(yield* strayCalls).toEqual([])
        expect(yield* filesNamed(canary)).toEqual([])
        expect(yield* filesNamed("up")).toEqual([])
        // It still works, and the settings are still settings.
        expect((yield* request("GET", "/api/servers")).status).toBe(200)
        expect((yield* request("GET", `/api/servers/${world.serverId}/scan`)).status).toBe(200)
        yield* Console.log(`bad inputs: ${cases.length} requests, ${hostile.length} hostile texts`)
        tellRan(context, { what: "bad inputs", count: cases.length })
      }),
    { timeout: 600_000 * patience }
  )
})

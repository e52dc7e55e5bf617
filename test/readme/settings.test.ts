import { describe, expect, it } from "@effect/vitest"
import { Duration, Either, Predicate, Schema } from "effect"
import { readFileSync } from "node:fs"
import { parse } from "yaml"
import { settingDefinitions } from "../../src/schema/settings.ts"

const page = readFileSync(new URL("../../docs/settings.md", import.meta.url), "utf8")
const [, example = ""] = /```yaml\n(.*?)```/s.exec(page) ?? []

/** Lists with rules of their own, whose values in the example are those of a team. */
const lists = ["http.tokens", "notify", "servers"]

/** Settings of the example by their dotted names. */
const shown: ReadonlyMap<string, unknown> = new Map(
  Object.entries(Schema.decodeUnknownSync(Schema.Record({ key: Schema.String, value: Schema.Unknown }))(parse(example)))
    .flatMap(([section, value]): ReadonlyArray<readonly [string, unknown]> =>
      Predicate.isRecord(value)
        ? Object.entries(value).map(([name, one]) => [`${section}.${name}`, one])
        : [[section, value]]
    )
    .filter(([name]) => !lists.includes(name))
)

const comparable = (value: unknown) => Duration.isDuration(value) ? Duration.toMillis(value) : value

describe("docs/settings.md", () => {
  it("names every setting, and no other", () => {
    expect([...shown.keys()].toSorted()).toEqual(Object.keys(settingDefinitions).toSorted())
  })

  it.each(Object.entries(settingDefinitions))("shows the default of %s", (name, { decode, fallback }) => {
    const value = shown.get(name) ?? undefined
    if (fallback === undefined) return expect(value).toBeUndefined()
    const read: Either.Either<unknown, unknown> = decode(value)
    expect(Either.map(read, comparable)).toEqual(Either.right(comparable(fallback)))
  })
})

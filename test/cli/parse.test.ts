import { describe, expect, it } from "@effect/vitest"
import { Effect, Option, Ref } from "effect"
import { Screen } from "../../src/cli/output.ts"
import {
  argument,
  choiceOption,
  Connection,
  defineLocalCommand,
  flagOption,
  integerOption,
  optionalArgument,
  readArguments,
  repeatedArgument,
  textOption,
  trailingArguments
} from "../../src/cli/parse.ts"
import { screenInto } from "../fixtures/programs/runView.ts"

const unused = Connection.of({ open: () => Effect.dieMessage("No service is asked") })

/** Values that a command gets from these words. */
const valuesOf = (words: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const values = yield* Ref.make<unknown>(undefined)
    const node = defineLocalCommand(
      { name: "try", summary: "" },
      {
        first: argument("first", "The first."),
        second: optionalArgument("second", "The second."),
        all: flagOption("all", "All.", "a"),
        since: textOption("since", "A time.", { value: "time", alias: "s" }),
        limit: integerOption("limit", "A number.", { value: "number", between: [1, 9] }),
        format: choiceOption("format", "A word.", ["json", "text"])
      },
      (input) => Ref.set(values, input)
    )
    const code = yield* node.run?.(yield* readArguments("berth try", node, words), words) ?? Effect.succeed(1)
    expect(code).toBe(0)
    return yield* Ref.get(values)
  }).pipe(Effect.provideService(Screen, screenInto([])), Effect.provideService(Connection, unused))

/** A command that takes the words behind `--` apart. */
const behind = (words: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const values = yield* Ref.make<unknown>(undefined)
    const node = defineLocalCommand(
      { name: "try", summary: "" },
      { first: optionalArgument("first", "The first."), words: trailingArguments("command", "The program.") },
      (input) => Ref.set(values, input)
    )
    yield* node.run?.(yield* readArguments("berth try", node, words), words) ?? Effect.void
    return yield* Ref.get(values)
  }).pipe(Effect.provideService(Screen, screenInto([])), Effect.provideService(Connection, unused))

it.effect("takes the words behind -- apart from arguments and options, and needs some where it does", () =>
  Effect.gen(function*() {
    expect(yield* behind(["--", "ls", "-l", "--", "--help"])).toEqual({
      first: Option.none(),
      words: ["ls", "-l", "--", "--help"]
    })
    expect(yield* behind(["a", "--", "ls"])).toEqual({ first: Option.some("a"), words: ["ls"] })
    for (const words of [["a"], ["a", "--"]]) {
      expect(yield* Effect.flip(behind(words))).toMatchObject({
        _tag: "Usage",
        message: "berth try needs -- <command>: The program."
      })
    }
  }))

const bare = {
  first: "a",
  second: Option.none(),
  all: false,
  since: Option.none(),
  limit: Option.none(),
  format: Option.none()
}

describe("the values of a command", () => {
  it.effect("hold all words of a repeated argument", () =>
    Effect.gen(function*() {
      const { readWord } = repeatedArgument("name", "Names.")
      expect(readWord(undefined, [])).toEqual([])
      const node = defineLocalCommand(
        { name: "try", summary: "" },
        { first: argument("first", "The first."), names: repeatedArgument("name", "Names.") },
        (input) => Effect.sync(() => expect(input).toEqual({ first: "a", names: ["b", "c", "d"] }))
      )
      const words = ["a", "b", "c", "d"]
      yield* node.run?.(yield* readArguments("berth try", node, words), words) ?? Effect.fail("no command")
    }).pipe(Effect.provideService(Screen, screenInto([])), Effect.provideService(Connection, unused)))

  it.effect.each(
    [
      [["a"], {}],
      [["a", "b"], { second: Option.some("b") }],
      [["--all", "a", "-s", "1h"], { all: true, since: Option.some("1h") }],
      [["-a", "-a", "a"], { all: true }],
      [["a", "--since=", "--limit=9", "--format", "text"], {
        since: Option.some(""),
        limit: Option.some(9),
        format: Option.some("text")
      }],
      [["a", "--since", "-5m"], { since: Option.some("-5m") }],
      [["a", "--since=--x=y"], { since: Option.some("--x=y") }],
      [["--", "a", "--all"], { second: Option.some("--all") }],
      [["-"], { first: "-" }],
      [["__proto__", "constructor"], { first: "__proto__", second: Option.some("constructor") }]
    ] as const
  )("of %j are %j", ([words, values]) =>
    Effect.gen(function*() {
      expect(yield* valuesOf(words)).toEqual({ ...bare, ...values })
    }))

  it.effect.each(
    [
      [[], "berth try needs <first>: The first."],
      [["a", "b", "c"], "berth try takes only first and second: \"c\" is one too many"],
      [["a", "--al"], "berth try has no option \"--al\". Did you mean \"--all\"? See berth try --help"],
      [["a", "--all=1"], "--all takes no value"],
      [["a", "--since"], "--since needs a value: --since <time>"],
      [["a", "--since", "--all"], "--since needs a value: --since <time>"],
      [["a", "--limit", "0"], "--limit must be a whole number from 1 to 9, not \"0\""],
      [["a", "--limit", "1", "--limit", "2"], "--limit can be given only once"],
      [["a", "--format", "jsn"], "--format must be json or text, not \"jsn\". Did you mean \"json\"?"]
    ] as const
  )("are refused in %j", ([words, message]) =>
    Effect.gen(function*() {
      expect((yield* Effect.flip(valuesOf(words))).message).toBe(message)
    }))
})

it.effect("gives the only word to the argument that is needed, and two to both", () =>
  Effect.gen(function*() {
    const read = (words: ReadonlyArray<string>) =>
      Effect.gen(function*() {
        const values = yield* Ref.make<unknown>(undefined)
        const node = defineLocalCommand(
          { name: "try", summary: "" },
          {
            first: optionalArgument("first", "The first."),
            second: argument("second", "The second."),
            more: repeatedArgument("more", "Further ones.")
          },
          (input) => Ref.set(values, input)
        )
        yield* node.run?.(yield* readArguments("berth try", node, words), words) ?? Effect.void
        return yield* Ref.get(values)
      }).pipe(Effect.provideService(Screen, screenInto([])), Effect.provideService(Connection, unused))
    expect((yield* Effect.flip(read([]))).message).toBe("berth try needs <second>: The second.")
    expect(yield* read(["a"])).toEqual({ first: Option.none(), second: "a", more: [] })
    expect(yield* read(["a", "b"])).toEqual({ first: Option.some("a"), second: "b", more: [] })
    expect(yield* read(["a", "b", "c", "d"])).toEqual({ first: Option.some("a"), second: "b", more: ["c", "d"] })
  }))

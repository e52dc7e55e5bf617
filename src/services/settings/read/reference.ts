import { Path } from "@effect/platform"
import { Config, Effect, Option } from "effect"
import { LocalFiles } from "../../local/LocalFiles.ts"
import { toAbsolutePath } from "./toAbsolutePath.ts"

const reference = /\$\{(env|file):([^{}]*)\}/g
const maxBytes = 1024 * 1024

/** Detects `${env:NAME}` and `${file:PATH}`. */
export const hasReference = (text: string): boolean => text.search(reference) !== -1

const fromEnvironment = (name: string) =>
  Config.option(Config.string(name)).pipe(
    Effect.mapError(() => `the environment variable ${name} cannot be read`),
    Effect.flatMap(Option.filter((text) => text !== "")),
    Effect.mapError((error) => typeof error === "string" ? error : `the environment variable ${name} is not set`)
  )

/** Reads a file, such as a mounted secret, without trailing line breaks. */
const fromFile = (name: string, folder: string) =>
  Effect.gen(function*() {
    const files = yield* LocalFiles
    const file = toAbsolutePath(yield* Path.Path, folder, name)
    const found = yield* Effect.mapError(files.find(file), ({ message }) => message)
    if (Option.isNone(found)) return yield* Effect.fail(`the file ${file} does not exist`)
    if (found.value.kind !== "file") return yield* Effect.fail(`${file} is not a regular file`)
    if (found.value.size > maxBytes) return yield* Effect.fail(`${file} is larger than 1 MiB`)
    const bytes = yield* Effect.mapError(files.read(file), ({ message }) => message)
    const text = yield* Effect.try({
      try: () => new TextDecoder("utf-8", { fatal: true }).decode(bytes).replace(/(?<![\r\n])[\r\n]+$/, ""),
      catch: () => `${file} is not valid UTF-8`
    })
    return text === "" ? yield* Effect.fail(`${file} is empty`) : text
  })

/**
 * Replaces every `${env:NAME}` and `${file:PATH}` in a text. Paths are relative to `folder`. Fails with the reason when
 * a variable or file is missing or empty.
 */
export const resolveReferences = (text: string, folder: string) =>
  Effect.reduce([...text.matchAll(reference)], { text: "", from: 0 }, (done, match) => {
    const [whole, kind, name = ""] = match
    const resolved: Effect.Effect<string, string, LocalFiles | Path.Path> = name.trim() === ""
      ? Effect.fail(`${whole} names nothing`)
      : kind === "env"
      ? fromEnvironment(name.trim())
      : fromFile(name.trim(), folder)
    return Effect.map(resolved, (value) => ({
      text: done.text + text.slice(done.from, match.index) + value,
      from: match.index + whole.length
    }))
  }).pipe(Effect.map((done) => done.text + text.slice(done.from)))

import { Path } from "@effect/platform"
import { Context, Effect } from "effect"
import { SettingsInvalid, SettingUnresolved } from "../../../schema/Settings.ts"
import { LocalFiles } from "../../local/LocalFiles.ts"
import { hasReference, resolveReferences } from "./reference.ts"
import { type Decode, decodeWritten, isList, type LocatedValue, makeTextScalar, type Scalar } from "./settingValue.ts"
import { toAbsolutePath } from "./toAbsolutePath.ts"

/** Resolves the values of one settings file. */
export interface Resolver {
  /** Makes a local path absolute. */
  readonly path: (text: string) => string
  /** Value of a setting with its references resolved. */
  readonly value: <A>(
    setting: string,
    entry: LocatedValue,
    decode: Decode<A>
  ) => Effect.Effect<A, SettingUnresolved | SettingsInvalid>
}

export const makeResolver = (file: string) =>
  Effect.gen(function*() {
    const path = yield* Path.Path
    const folder = path.dirname(file)
    const services = Context.make(Path.Path, path).pipe(Context.add(LocalFiles, yield* LocalFiles))

    const resolved = (setting: string, scalar: Scalar): Effect.Effect<Scalar, SettingUnresolved> =>
      hasReference(scalar.text)
        ? resolveReferences(scalar.text, folder).pipe(
          Effect.mapBoth({
            onFailure: (reason) => new SettingUnresolved({ file, setting, reason }),
            onSuccess: makeTextScalar
          }),
          Effect.provide(services)
        )
        : Effect.succeed(scalar)

    const resolver: Resolver = {
      path: (text) => toAbsolutePath(path, folder, text),
      value: (setting, { line, written }, decode) =>
        Effect.gen(function*() {
          const whole = isList(written)
            ? yield* Effect.forEach(written, (scalar) => resolved(setting, scalar))
            : yield* resolved(setting, written)
          return yield* Effect.mapError(
            decodeWritten(decode, whole),
            (reason) => new SettingsInvalid({ file, line, setting, reason })
          )
        })
    }
    return resolver
  })

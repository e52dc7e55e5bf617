import { Data } from "effect"

/**
 * Reason why a proxy file is not edited. `Broken`: it was not valid YAML before. `Unfit`: it lacks something that the
 * edit needs, or would lose something. `Bridged`: a bridge currently serves its requests. `Taken`: the name is used for
 * something else. `Invalid`: the route itself is invalid.
 */
export type Refusal = Data.TaggedEnum<{
  Broken: { readonly line: number | null; readonly reason: string }
  Unfit: { readonly line: number | null; readonly reason: string }
  Bridged: { readonly routeName: string; readonly port: number }
  Taken: { readonly routeName: string; readonly reason: string }
  Invalid: { readonly reason: string }
}>
export const Refusal = Data.taggedEnum<Refusal>()

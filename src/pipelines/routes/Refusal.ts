import { Data } from "effect"

/**
 * Why a proxy file is not edited. `Broken`: it was no sound YAML to begin with. `Unfit`: it lacks what the edit needs,
 * or would lose something by it. `Taken`: the name stands for something else. `Invalid`: the route itself does not fit.
 */
export type Refusal = Data.TaggedEnum<{
  Broken: { readonly line: number | null; readonly reason: string }
  Unfit: { readonly line: number | null; readonly reason: string }
  Taken: { readonly routeName: string; readonly reason: string }
  Invalid: { readonly reason: string }
}>
export const Refusal = Data.taggedEnum<Refusal>()

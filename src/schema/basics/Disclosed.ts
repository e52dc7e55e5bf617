import { Data } from "effect"

/**
 * Value that its owner may not disclose: known, hidden from the requesting token, or absent. Hidden must never be
 * treated as absent.
 */
export type Disclosed<A> = Data.TaggedEnum<{
  Known: { readonly value: A }
  Hidden: { readonly reason: string }
  Absent: {}
}>
interface DisclosedDefinition extends Data.TaggedEnum.WithGenerics<1> {
  readonly taggedEnum: Disclosed<this["A"]>
}
export const Disclosed = Data.taggedEnum<DisclosedDefinition>()

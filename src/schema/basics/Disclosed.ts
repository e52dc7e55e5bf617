import { Data } from "effect"

/**
 * A value that its owner may keep to itself: known, hidden from the token that asked, or not there. Hidden is not
 * absent: nothing may be decided as if it were.
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

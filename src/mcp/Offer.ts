import type { Effect } from "effect"
import type { Berth } from "../client/Berth.ts"
import type { BerthError } from "../client/BerthError.ts"
import type { Tool } from "./answers/Tool.ts"
import { listTools } from "./listTools.ts"
import { readResource, resources, resourceTemplates } from "./resources.ts"

/** Name and address of a resource or resource template. */
interface Named {
  readonly name: string
  readonly title: string
  readonly mimeType: string
}

/** Tools and resources offered to one agent. */
export interface Offer {
  readonly tools: ReadonlyArray<Tool>
  readonly resources: ReadonlyArray<Named & { readonly uri: string }>
  readonly resourceTemplates: ReadonlyArray<Named & { readonly uriTemplate: string }>
  /** Reads a resource; an unknown address fails with status 404. */
  readonly read: (
    uri: string
  ) => Effect.Effect<
    { readonly uri: string; readonly mimeType: string; readonly text: string },
    BerthError,
    Berth
  >
}

/** Offer for an agent with these rights. */
export type OfferFor = (rights: { readonly readOnly: boolean }) => Offer

export const buildOffer: OfferFor = (rights) => ({
  tools: listTools(rights),
  resources,
  resourceTemplates,
  read: readResource
})

import type { Effect } from "effect"
import type { Berth } from "../client/Berth.ts"
import type { BerthError } from "../client/BerthError.ts"
import { readResource, resources, resourceTemplates } from "./resources.ts"
import type { Tool } from "./Tool.ts"
import { toolsFor } from "./toolsFor.ts"

/** What a resource, or one whose address has a part to fill in, is called. */
interface Named {
  readonly name: string
  readonly title: string
  readonly mimeType: string
}

/** What is offered to one agent: tools to call, and resources to read. */
export interface Offer {
  readonly tools: ReadonlyArray<Tool>
  readonly resources: ReadonlyArray<Named & { readonly uri: string }>
  readonly resourceTemplates: ReadonlyArray<Named & { readonly uriTemplate: string }>
  /** Reads a resource. Where there is none of this address, the failure has the status 404. */
  readonly read: (
    uri: string
  ) => Effect.Effect<
    { readonly uri: string; readonly mimeType: string; readonly text: string },
    BerthError,
    Berth
  >
}

/** What an agent with these rights is offered. */
export type OfferFor = (rights: { readonly readOnly: boolean }) => Offer

/** What Berth offers. */
export const offerFor: OfferFor = (rights) => ({
  tools: toolsFor(rights),
  resources,
  resourceTemplates,
  read: readResource
})

import { HttpClient } from "@effect/platform"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Context, Effect, Layer, type Scope } from "effect"
import { type Address, type Berth, layer, withAddress } from "../Berth.ts"

/** Client of the service at an address, over Node's HTTP client, which loads faster than `fetch`. */
export const overHttp = (address: Address): Layer.Layer<Berth> => Layer.provide(layer(address), NodeHttpClient.layer)

/** A client whose requests go to a service at an address. */
export const makeServiceClient = (address: Address): Effect.Effect<HttpClient.HttpClient, never, Scope.Scope> =>
  Effect.map(
    Layer.build(NodeHttpClient.layer),
    (context) => withAddress(address)(Context.get(context, HttpClient.HttpClient))
  )

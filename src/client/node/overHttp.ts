import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Layer } from "effect"
import { type Address, type Berth, layer } from "../Berth.ts"

/** The service at an address, over Node's own HTTP client: it starts sooner than `fetch`. */
export const overHttp = (address: Address): Layer.Layer<Berth> => Layer.provide(layer(address), NodeHttpClient.layer)

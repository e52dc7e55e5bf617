import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Layer } from "effect"
import type { Berth } from "../Berth.ts"
import { type Address, layer } from "../layer.ts"

/** The service at an address, over Node's own HTTP client: it starts sooner than `fetch`. */
export const overHttp = (address: Address): Layer.Layer<Berth> => Layer.provide(layer(address), NodeHttpClient.layer)

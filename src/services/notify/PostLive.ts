import { Effect, Layer, Scope } from "effect"
import { makeOnce } from "../limits.ts"
import { Post } from "./Post.ts"

/** Sends requests over the network; the client is loaded on first use. */
export const PostLive: Layer.Layer<Post> = Layer.scoped(
  Post,
  Effect.gen(function*() {
    const scope = yield* Effect.scope
    const loaded = Effect.flatMap(Effect.promise(() => import("./undiciPost.ts")), ({ makePost }) => makePost)
    const client = yield* makeOnce(Scope.extend(loaded, scope))
    return { send: (url, request) => Effect.flatMap(client, (send) => send(url, request)) }
  })
)

import { Effect, Redacted } from "effect"
import type { Repository } from "../../schema/webhooks/GitHook.ts"
import { pluralize } from "../../schema/words/pluralize.ts"
import { GitHost } from "./GitHost.ts"
import {
  buildHookPath,
  buildHooksPath,
  buildHookTestPath,
  decodeHook,
  decodeHooks,
  type GitHostProfile
} from "./profile.ts"

/** Git host with Berth's own API; needs no translation. */
export const neutral: GitHostProfile = ({ send }) => {
  const hooks = (repository: Repository) =>
    Effect.flatMap(send({ method: "GET", path: buildHooksPath(repository) }), decodeHooks)

  return GitHost.of({
    hooks,
    createHook: (repository, url, secret) =>
      send({
        method: "POST",
        path: buildHooksPath(repository),
        body: {
          type: "githost",
          active: true,
          config: { url, content_type: "json", secret: Redacted.value(secret) },
          events: ["push"]
        },
        secrets: [secret]
      }).pipe(Effect.flatMap(decodeHook), Effect.map(({ id }) => ({ id, active: true, url }))),
    updateHook: (repository, hook, secret) =>
      Effect.as(
        send({
          method: "PATCH",
          path: buildHookPath(repository, hook),
          body: { config: { content_type: "json", secret: Redacted.value(secret) }, active: true },
          secrets: [secret]
        }),
        { ...hook, active: true }
      ),
    deleteHook: (repository, hook) => Effect.asVoid(send({ method: "DELETE", path: buildHookPath(repository, hook) })),
    testHook: (repository, hook) => Effect.asVoid(send({ method: "POST", path: buildHookTestPath(repository, hook) })),
    check: (repository) =>
      Effect.map(hooks(repository), ({ length }) => ({
        name: "git host",
        ok: true,
        detail: `${repository.owner}/${repository.name} has ${pluralize(length, "hook")}`
      }))
  })
}

import { Effect, Redacted } from "effect"
import type { Repository } from "../../schema/webhooks/GitHook.ts"
import { counted } from "../../schema/words/counted.ts"
import { GitHost } from "./GitHost.ts"
import { type GitHostProfile, hookIn, hookPath, hooksIn, hooksPath, hookTestPath } from "./profile.ts"

/** A git host that speaks Berth's own words: nothing is translated. */
export const neutral: GitHostProfile = ({ send }) => {
  const hooks = (repository: Repository) =>
    Effect.flatMap(send({ method: "GET", path: hooksPath(repository) }), hooksIn)

  return GitHost.of({
    hooks,
    createHook: (repository, url, secret) =>
      send({
        method: "POST",
        path: hooksPath(repository),
        body: {
          type: "githost",
          active: true,
          config: { url, content_type: "json", secret: Redacted.value(secret) },
          events: ["push"]
        },
        secrets: [secret]
      }).pipe(Effect.flatMap(hookIn), Effect.map(({ id }) => ({ id, active: true, url }))),
    updateHook: (repository, hook, secret) =>
      Effect.as(
        send({
          method: "PATCH",
          path: hookPath(repository, hook),
          body: { config: { content_type: "json", secret: Redacted.value(secret) }, active: true },
          secrets: [secret]
        }),
        { ...hook, active: true }
      ),
    deleteHook: (repository, hook) => Effect.asVoid(send({ method: "DELETE", path: hookPath(repository, hook) })),
    testHook: (repository, hook) => Effect.asVoid(send({ method: "POST", path: hookTestPath(repository, hook) })),
    check: (repository) =>
      Effect.map(hooks(repository), ({ length }) => ({
        name: "git host",
        ok: true,
        detail: `${repository.owner}/${repository.name} has ${counted(length, "hook")}`
      }))
  })
}

import { Effect, Redacted } from "effect"
import type { Finding } from "../../schema/Health.ts"
import { type GitHook, GitHostUnavailable, type Repository } from "../../schema/webhooks/GitHook.ts"
import { uncancellable } from "../runs/uncancellable.ts"
import { GitHost, type GitHostCall } from "./GitHost.ts"
import {
  buildHookPath,
  buildHooksPath,
  buildHookTestPath,
  buildRepositoryPath,
  decodeHook,
  decodeHooks,
  type GitHostProfile,
  mayAdministerIn
} from "./profile.ts"

const pageSize = 50
const mostPages = 100

/** Adapts the API of Gitea and Forgejo to the port. */
export const gitea: GitHostProfile = ({ send }) => {
  // A host may return fewer hooks per page than requested: only an empty page is the last one.
  const pages = (repository: Repository, page: number): GitHostCall<ReadonlyArray<GitHook>> =>
    Effect.gen(function*() {
      if (page > mostPages) {
        const reason = `the repository has more than ${mostPages} pages of hooks`
        return yield* new GitHostUnavailable({ call: "GET …/hooks", reason })
      }
      const query = { limit: String(pageSize), page: String(page) }
      const hooks = yield* Effect.flatMap(send({ method: "GET", path: buildHooksPath(repository), query }), decodeHooks)
      return hooks.length === 0 ? hooks : [...hooks, ...yield* pages(repository, page + 1)]
    })

  const create = (repository: Repository, url: string, secret: Redacted.Redacted, branchFilter?: string) =>
    send({
      method: "POST",
      path: buildHooksPath(repository),
      body: {
        type: "gitea",
        active: true,
        config: { url, content_type: "json", secret: Redacted.value(secret) },
        events: ["push"],
        ...(branchFilter === undefined || branchFilter === "" ? {} : { branch_filter: branchFilter })
      },
      secrets: [secret]
    }).pipe(Effect.flatMap(decodeHook), Effect.map((hook): GitHook => ({ ...hook, active: true, url })))

  const deleteHook = (repository: Repository, hook: GitHook) =>
    Effect.asVoid(send({ method: "DELETE", path: buildHookPath(repository, hook) }))

  return GitHost.of({
    hooks: (repository) => pages(repository, 1),
    createHook: (repository, url, secret) => create(repository, url, secret),
    // The API accepts a secret only for a new hook. Both hooks deliver between the two calls: duplicates are better
    // than a lost event.
    updateHook: (repository, hook, secret) =>
      uncancellable(
        Effect.zipLeft(create(repository, hook.url, secret, hook.branchFilter), deleteHook(repository, hook))
      ),
    deleteHook,
    testHook: (repository, hook) => Effect.asVoid(send({ method: "POST", path: buildHookTestPath(repository, hook) })),
    check: (repository) =>
      Effect.map(
        Effect.flatMap(send({ method: "GET", path: buildRepositoryPath(repository) }), mayAdministerIn),
        (mayAdminister): Finding => {
          const name = `${repository.owner}/${repository.name}`
          return mayAdminister
            ? { name: "git host", ok: true, detail: `the token's user administers ${name}` }
            : {
              name: "git host",
              ok: false,
              detail: `the token's user does not administer ${name}, and cannot set up its webhooks`,
              fix: "Make the token's user an administrator of the repository, or use the token of one"
            }
        }
      )
  })
}

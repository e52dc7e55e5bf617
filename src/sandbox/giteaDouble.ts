import { Schema } from "effect"
import { annotateMessage, decodeRequestBody } from "./doubles/decodeRequestBody.ts"
import { type HookChanges, NewHook } from "./doubles/gitHostFields.ts"
import { type GitHostDoubleOptions, type HookBehavior, makeHookDouble } from "./gitHostDouble.ts"

const kinds = [
  "gitea",
  "gogs",
  "slack",
  "discord",
  "dingtalk",
  "telegram",
  "msteams",
  "feishu",
  "wechatwork",
  "packagist"
]

const gitea: HookBehavior = {
  newHook: decodeRequestBody(
    "Hook",
    Schema.Struct({
      ...NewHook.fields,
      type: Schema.String.pipe(Schema.filter((type) => kinds.includes(type), annotateMessage("Invalid hook type.")))
    })
  ),
  // An update ignores the secret, and resets the events and branches that it omits.
  meant: ({ active, branch_filter = "", config, events = [] }): HookChanges => {
    const { secret: _, ...taken } = config ?? {}
    return { ...(active === undefined ? {} : { active }), branch_filter, events, config: taken }
  },
  shown: ({ active, branchFilter = "", contentType, events, id, type, url }) => ({
    id,
    type,
    branch_filter: branchFilter,
    config: { content_type: contentType, url },
    events,
    authorization_header: "",
    active
  })
}

/** Starts a test double of Gitea and Forgejo. */
export const makeGiteaDouble = (options: GitHostDoubleOptions) => makeHookDouble(gitea, options)

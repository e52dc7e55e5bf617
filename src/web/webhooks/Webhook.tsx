import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import type { WebhookOutcome, WebhookState } from "../../schema/webhooks/Webhook.ts"
import { call } from "../service/berth.ts"
import { Button } from "../ui/Button.tsx"
import { Confirm } from "../ui/Confirm.tsx"
import { Failure } from "../ui/Notes.tsx"
import { Panel } from "../ui/Panel.tsx"
import { Findings } from "./Findings.tsx"
import { WebhookBadge } from "./WebhookBadge.tsx"

const questions = {
  "set up": "The secret is set on the platform, and the hook of its repository is created or updated.",
  "test": "The git host sends a test delivery. On the platform that may start a deployment, as a push does.",
  "remove":
    "The secret is cleared on the platform, and the hook that leads there is deleted: pushes deploy it no longer."
} as const
type What = keyof typeof questions

const told = (outcomes: ReadonlyArray<WebhookOutcome>) =>
  outcomes.map(({ githost, platform }) => `Platform: ${platform}. Git host: ${githost}.`).join(" ")

/** Runs an action and shows its outcome. */
const carryOut = async (what: What, appName: string): Promise<string> => {
  const payload = { appName }
  switch (what) {
    case "set up":
      return told((await call((berth) => berth.setUpWebhooks({ payload }))).results)
    case "remove":
      return told((await call((berth) => berth.tearDownWebhooks({ payload }))).results)
    case "test":
      return (await call((berth) => berth.testWebhook({ payload }))).detail
  }
}

/** Webhook of one application: state, findings and actions. */
export const Webhook = ({ state }: { readonly state: WebhookState }) => {
  const appName = state.app
  const queries = useQueryClient()
  const [asked, setAsked] = useState<What>()
  const act = useMutation({
    mutationFn: (what: What) => carryOut(what, appName),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["webhooks"] })
  })
  const outcome = act.data
  const isSetUp = state.githostWebhookActive || state.platformSecretSet
  return (
    <Panel
      title={appName}
      note={<WebhookBadge state={state} />}
      aside={
        <>
          <Button look="small" changes disabled={act.isPending} onClick={() => setAsked("set up")}>Set up</Button>
          {isSetUp
            ? (
              <>
                <Button look="small" icon="send" changes disabled={act.isPending} onClick={() => setAsked("test")}>
                  Test
                </Button>
                <Button look="small" icon="bin" changes disabled={act.isPending} onClick={() => setAsked("remove")}>
                  Remove
                </Button>
              </>
            )
            : null}
        </>
      }
      {...outcome === undefined ? {} : { footer: <span role="status">{outcome}</span> }}
    >
      <Findings state={state} />
      <Failure error={act.error} />
      {asked === undefined ? null : (
        <Confirm
          title={`${asked.slice(0, 1).toUpperCase()}${asked.slice(1)} the webhook of ${appName}?`}
          action={asked === "test" ? "Send a test delivery" : asked === "remove" ? "Remove it" : "Set it up"}
          danger={asked === "remove"}
          onClose={() => setAsked(undefined)}
          onConfirm={() => {
            setAsked(undefined)
            act.mutate(asked)
          }}
        >
          <p>{questions[asked]}</p>
        </Confirm>
      )}
    </Panel>
  )
}

import { Link } from "wouter"
import { Age } from "../ui/Age.tsx"
import { Empty, Loading } from "../ui/Notes.tsx"
import { Panel } from "../ui/Panel.tsx"
import { Findings } from "../webhooks/Findings.tsx"
import { useWebhooks } from "../webhooks/useWebhooks.ts"
import { WebhookBadge } from "../webhooks/WebhookBadge.tsx"

/** Webhook status of an application, with findings. */
export const WebhookPanel = ({ appName }: { readonly appName: string }) => {
  const { data, dataUpdatedAt, error, refetch } = useWebhooks()
  const own = data?.results.find(({ app }) => app === appName)
  return (
    <Panel
      title="Webhook"
      note={own === undefined ? undefined : <WebhookBadge state={own} />}
      aside={
        <>
          <Age at={dataUpdatedAt} before="seen " />
          <Link className="link" href="/webhooks">All webhooks</Link>
        </>
      }
    >
      <Loading query={{ data, error, refetch }} what="the webhook" />
      {data !== undefined && own === undefined
        ? <Empty title="No webhook yet" icon="webhooks">The platform has no application of this name.</Empty>
        : null}
      {own === undefined ? null : <Findings state={own} />}
    </Panel>
  )
}

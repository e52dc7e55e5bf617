import type { WebhookState } from "../../schema/webhooks/Webhook.ts"
import { formatCount } from "../format/format.ts"
import { Badge } from "../ui/Badge.tsx"

/** Badge for deploys by push. */
export const WebhookBadge = ({ state: { findings = [], githostWebhookActive, platformSecretSet, unknown } }: {
  readonly state: WebhookState
}) => {
  if (!githostWebhookActive && !platformSecretSet) return <Badge>not set up</Badge>
  if (findings.length > 0) return <Badge tone="bad">{formatCount(findings.length, "finding")}</Badge>
  if (unknown !== undefined) return <Badge tone="warn">partly unknown</Badge>
  return githostWebhookActive && platformSecretSet
    ? <Badge tone="good">pushes deploy it</Badge>
    : <Badge tone="warn">half set up</Badge>
}

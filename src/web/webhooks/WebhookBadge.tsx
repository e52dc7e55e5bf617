import type { WebhookState } from "../../schema/Webhook.ts"
import { Badge } from "../ui/Badge.tsx"
import { counted } from "../ui/words.ts"

/** In a few words whether pushes deploy an application. */
export const WebhookBadge = ({ state: { findings = [], githostWebhookActive, platformSecretSet, unknown } }: {
  readonly state: WebhookState
}) => {
  if (!githostWebhookActive && !platformSecretSet) return <Badge>not set up</Badge>
  if (findings.length > 0) return <Badge tone="bad">{counted(findings.length, "finding")}</Badge>
  if (unknown !== undefined) return <Badge tone="warn">partly unknown</Badge>
  return githostWebhookActive && platformSecretSet
    ? <Badge tone="good">pushes deploy it</Badge>
    : <Badge tone="warn">half set up</Badge>
}

import type { WebhookState } from "../../schema/webhooks/Webhook.ts"
import { Icon } from "../ui/Icon.tsx"

const Fact = ({ ok, text }: { readonly ok: boolean; readonly text: string }) => (
  <li>
    <span className={ok ? "tick" : "tick warn"}>
      <Icon name={ok ? "check" : "minus"} />
    </span>
    <span className="grow">{text}</span>
  </li>
)

/**
 * Parts of a webhook, obstacles of deploys by push with their fixes, and unknown fields.
 */
export const Findings = (
  { state: { findings = [], githostWebhookActive, platformSecretSet, repo, unknown, untold = [] } }: {
    readonly state: WebhookState
  }
) => (
  <ul className="rows">
    <Fact
      ok={githostWebhookActive}
      text={repo === null
        ? "The git host has no repository of it"
        : githostWebhookActive
        ? `${repo} has an active hook that leads to the platform`
        : `${repo} has no active hook that leads to the platform`}
    />
    <Fact
      ok={platformSecretSet}
      text={platformSecretSet ? "The platform has the secret" : unknown ?? "The platform has no secret for it"}
    />
    {findings.map(({ finding, fix }) => (
      <li key={finding}>
        <span className="tick bad">
          <Icon name="cross" />
        </span>
        <span className="grow">
          <span className="strong">{finding}</span> <span className="quiet">{fix}</span>
        </span>
      </li>
    ))}
    {untold.map((text) => (
      <li key={text}>
        <span className="tick idle">
          <Icon name="minus" />
        </span>
        <span className="grow quiet">{text}</span>
      </li>
    ))}
  </ul>
)

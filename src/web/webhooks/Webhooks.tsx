import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import type { WebhookOutcome, WebhookState } from "../../schema/webhooks.ts"
import { call, formatCount, useCall } from "../service.ts"
import { Age, Badge, Button, Empty, Failure, Head, Icon, Loading, Panel } from "../ui/components.tsx"
import { Confirm } from "../ui/dialogs.tsx"

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
const Webhook = ({ state }: { readonly state: WebhookState }) => {
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

/** Webhook status of each application, with findings. */
export const useWebhooks = () =>
  useCall(["webhooks"], (berth) => berth.webhookStatus({ urlParams: { deep: "true" } }), {
    staleTime: 60_000,
    every: 60_000
  })

type States = NonNullable<ReturnType<typeof useWebhooks>["data"]>["results"]

const ConfirmSetUp = ({ onClose, onConfirm, results }: {
  readonly results: States
  readonly onClose: () => void
  readonly onConfirm: () => void
}) => {
  const lacking = results.filter(({ githostWebhookActive, platformSecretSet }) =>
    !githostWebhookActive || !platformSecretSet
  )
  return (
    <Confirm
      title="Set up the webhooks of all applications?"
      action="Set up all"
      onClose={onClose}
      onConfirm={onConfirm}
    >
      <p>
        For each of the {results.length}{" "}
        applications the secret is set on the platform, and the hook of its repository is created or updated.
        {lacking.length === 0 ? "" : ` Not set up yet: ${lacking.slice(0, 10).map(({ app }) => app).join(", ")}.`}
      </p>
    </Confirm>
  )
}

/** Webhooks of all applications. */
export const Webhooks = () => {
  const { data, dataUpdatedAt, error, isFetching, refetch } = useWebhooks()
  const queries = useQueryClient()
  const [asking, setAsking] = useState(false)
  const setUp = useMutation({
    mutationFn: () => call((berth) => berth.setUpWebhooks({ payload: {} })),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["webhooks"] })
  })
  return (
    <div className="page">
      <Head
        title="Webhooks"
        actions={
          <>
            <Button icon="again" disabled={isFetching} onClick={refetch}>Look again</Button>
            <Button
              changes
              icon="webhooks"
              look="main-action"
              disabled={setUp.isPending || data === undefined || data.results.length === 0}
              onClick={() => setAsking(true)}
            >
              {setUp.isPending ? "Setting up …" : "Set up all"}
            </Button>
          </>
        }
      >
        <p className="quiet">
          Pushes that deploy. {data === undefined ? null : (
            <>
              Delivered to <code>{data.webhookUrl}</code>.{" "}
            </>
          )}
          <Age at={dataUpdatedAt} before="Seen " />
        </p>
      </Head>
      {setUp.error === null ? null : (
        <Panel title="Not set up">
          <Failure error={setUp.error} />
        </Panel>
      )}
      {error === null && data !== undefined && data.results.length > 0 ? null : (
        <Panel title="Webhooks">
          <Loading query={{ data, error, refetch }} what="the webhooks" />
          {data?.results.length === 0 ? <Empty title="The platform has no applications" icon="webhooks" /> : null}
        </Panel>
      )}
      <div className="halves">
        {data?.results.map((state) => <Webhook key={state.uuid} state={state} />)}
      </div>
      {asking && data !== undefined
        ? (
          <ConfirmSetUp
            results={data.results}
            onClose={() => setAsking(false)}
            onConfirm={() => {
              setAsking(false)
              setUp.mutate()
            }}
          />
        )
        : null}
    </div>
  )
}

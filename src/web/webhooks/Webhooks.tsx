import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { call } from "../service/berth.ts"
import { Age } from "../ui/Age.tsx"
import { Button } from "../ui/Button.tsx"
import { Confirm } from "../ui/Confirm.tsx"
import { Head } from "../ui/Head.tsx"
import { Empty, Failure, Loading } from "../ui/Notes.tsx"
import { Panel } from "../ui/Panel.tsx"
import { useWebhooks } from "./useWebhooks.ts"
import { Webhook } from "./Webhook.tsx"

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

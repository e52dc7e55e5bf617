import { useMutation } from "@tanstack/react-query"
import { useState } from "react"
import { type Run } from "../../schema/runs.ts"
import { call } from "../service.ts"
import { Button } from "../ui/components.tsx"
import { Confirm } from "../ui/dialogs.tsx"
import { describeRun } from "./RunPanel.tsx"

/** Cancels a run after confirmation. */
export const CancelRun = ({ run }: { readonly run: Run }) => {
  const [asking, setAsking] = useState(false)
  const { error, isPending, isSuccess, mutate } = useMutation({
    mutationFn: () => call((berth) => berth.cancelRun({ path: { id: run.id } }))
  })
  return (
    <>
      <Button icon="stop" look="small" changes disabled={isPending || isSuccess} onClick={() => setAsking(true)}>
        {isPending || isSuccess ? "Stopping …" : "Cancel"}
      </Button>
      {error === null ? null : <span className="bad" role="alert">{error.message}</span>}
      {asking
        ? (
          <Confirm
            title={`Cancel: ${describeRun(run)}?`}
            action="Cancel the run"
            danger
            onClose={() => setAsking(false)}
            onConfirm={() => {
              setAsking(false)
              mutate()
            }}
          >
            <p>
              {run.kind === "stack"
                ? "What the server was told to do comes to its end first, and stays."
                : "It stops at the next safe point, and what it has begun is undone as after a failure."}
            </p>
          </Confirm>
        )
        : null}
    </>
  )
}

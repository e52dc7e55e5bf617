import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useLocation } from "wouter"
import type { Server } from "../../schema/servers/Server.ts"
import { call } from "../service/berth.ts"
import { ActionDialog } from "../ui/ActionDialog.tsx"
import { Failure } from "../ui/Notes.tsx"

/** Removes a server from the settings. */
export const RemoveServer = ({ onClose, server: { id, name } }: {
  readonly server: Server
  readonly onClose: () => void
}) => {
  const [, go] = useLocation()
  const queries = useQueryClient()
  const { error, isPending, mutate } = useMutation({
    mutationFn: () => call((berth) => berth.removeServer({ path: { id } })),
    onSuccess: async () => {
      go("/servers")
      await queries.invalidateQueries()
    }
  })
  return (
    <ActionDialog
      title={`Remove ${name}?`}
      action="Remove it from the settings"
      danger
      busy={isPending}
      isDone={false}
      onAct={mutate}
      onClose={onClose}
    >
      <p>Berth forgets how to log in to it. Nothing on the server changes, and what runs there goes on.</p>
      <Failure error={error} />
    </ActionDialog>
  )
}

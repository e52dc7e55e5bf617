import { useQueryClient } from "@tanstack/react-query"
import type { Server } from "../../../schema/servers/Server.ts"
import { Dialog } from "../../ui/Dialog.tsx"
import { ServerForm } from "./ServerForm.tsx"
import { useServerForm } from "./useServerForm.ts"

/** Dialog that changes a stored server; omitted credentials are kept. */
export const EditServer = ({ onClose, server }: { readonly server: Server; readonly onClose: () => void }) => {
  const queries = useQueryClient()
  const state = useServerForm({
    stored: server,
    onStored: async () => {
      onClose()
      await queries.invalidateQueries()
    }
  })
  const title = `Edit ${server.name}`
  return (
    <Dialog label={title} busy={state.storing.isPending} onClose={onClose}>
      <ServerForm state={state} title={title} onLeave={onClose} />
    </Dialog>
  )
}

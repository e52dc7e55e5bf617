import { useQueryClient } from "@tanstack/react-query"
import { useLocation } from "wouter"
import { Dialog } from "../../ui/Dialog.tsx"
import { ServerForm } from "./ServerForm.tsx"
import { useServerForm } from "./useServerForm.ts"

/** Dialog that stores a server and then opens its screen. */
export const AddServer = ({ onClose }: { readonly onClose: () => void }) => {
  const [, go] = useLocation()
  const queries = useQueryClient()
  const state = useServerForm({
    onStored: async ({ id }) => {
      onClose()
      go(`/servers/${encodeURIComponent(id)}`)
      await queries.invalidateQueries()
    }
  })
  return (
    <Dialog label="Add a server" busy={state.storing.isPending} onClose={onClose}>
      <ServerForm state={state} title="Add a server" onLeave={onClose} />
    </Dialog>
  )
}

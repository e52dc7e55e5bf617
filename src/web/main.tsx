import { QueryClientProvider } from "@tanstack/react-query"
import { StrictMode } from "react"
import { createRoot } from "react-dom/client"
import { queryClient, redeemTicket } from "./service.ts"
import { App, applyTheme } from "./shell/App.tsx"

applyTheme()
const root = document.getElementById("root")
const show = () => {
  if (root === null) return
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queryClient}>
        <App />
      </QueryClientProvider>
    </StrictMode>
  )
}
void redeemTicket().then(show)

import { StrictMode } from "react"
import { createRoot } from "react-dom/client"
import { call } from "./service/berth.ts"
import { startRun } from "./service/berth.ts"
import { followEvents } from "./service/events.ts"
import { queryClient } from "./service/queries.ts"

console.log(call, startRun, followEvents, queryClient)
const root = document.getElementById("root")
if (root !== null) createRoot(root).render(<StrictMode>Berth</StrictMode>)

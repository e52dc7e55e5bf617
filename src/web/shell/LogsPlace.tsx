import { lazy, Suspense } from "react"
import { Waiting } from "../ui/Notes.tsx"

// Logs are read in chunks of their own.
const LogScreen = lazy(() => import("../logs/LogScreen.tsx").then(({ LogScreen }) => ({ default: LogScreen })))

/** The screen of logs, loaded when it is opened. */
export const LogsPlace = () => (
  <Suspense fallback={<Waiting what="the logs" />}>
    <LogScreen />
  </Suspense>
)

import { createContext } from "react"

/** Reason why changes are disabled: the caller is a viewer, or the service does not answer. */
export const ReadOnlyReason = createContext<string | undefined>(undefined)

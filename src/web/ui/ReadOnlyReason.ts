import { createContext } from "react"

/** Reason why nothing can be changed now: the caller is a viewer, or the service does not answer. */
export const ReadOnlyReason = createContext<string | undefined>(undefined)

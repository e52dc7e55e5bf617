import { type ReactNode, Suspense } from "react"
import { Boundary } from "./Boundary.tsx"
import { Waiting } from "./Notes.tsx"

/** Part of the page that is loaded with its first use. */
export const Later = ({ children, what }: { readonly what: string; readonly children: ReactNode }) => (
  <Boundary what={what}>
    <Suspense fallback={<Waiting what={what} />}>{children}</Suspense>
  </Boundary>
)

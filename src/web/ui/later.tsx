import { type ComponentType, lazy, Suspense } from "react"
import { Boundary } from "./Boundary.tsx"
import { Waiting } from "./Notes.tsx"

/**
 * Part of the page that is loaded with its first use.
 * @param what names it while it loads, and where it cannot be shown
 */
export const later = <P extends object>(what: string, load: () => Promise<ComponentType<P>>): ComponentType<P> => {
  const Part = lazy(() => load().then((part) => ({ default: part })))
  return (props) => (
    <Boundary what={what}>
      <Suspense fallback={<Waiting what={what} />}>
        <Part {...props} />
      </Suspense>
    </Boundary>
  )
}

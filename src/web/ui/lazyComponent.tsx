import { type ComponentType, lazy, Suspense } from "react"
import { Boundary } from "./Boundary.tsx"
import { Waiting } from "./Notes.tsx"

/**
 * Loads a part of the page on first use.
 * @param what name of the part in the notes about its loading and its failure
 */
export const lazyComponent = <P extends object>(
  what: string,
  load: () => Promise<ComponentType<P>>
): ComponentType<P> => {
  const Part = lazy(() => load().then((part) => ({ default: part })))
  return (props) => (
    <Boundary what={what}>
      <Suspense fallback={<Waiting what={what} />}>
        <Part {...props} />
      </Suspense>
    </Boundary>
  )
}

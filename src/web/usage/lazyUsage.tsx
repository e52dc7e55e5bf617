import { type ComponentType, lazy, Suspense } from "react"

/** Loads an optional part on first use; renders nothing while it loads or if that fails. */
const quietly = <P extends object>(load: () => Promise<ComponentType<P>>): ComponentType<P> => {
  const none = { default: (): null => null }
  const Part = lazy<ComponentType<P>>(() => load().then((part) => ({ default: part }), () => none))
  return (props) => (
    <Suspense fallback={null}>
      <Part {...props} />
    </Suspense>
  )
}

export const ServerUsage = quietly(() => import("./Usage.tsx").then((part) => part.ServerUsage))
export const ContainerUsage = quietly(() => import("./Usage.tsx").then((part) => part.ContainerUsage))
export const ProjectSpark = quietly(() => import("./Usage.tsx").then((part) => part.ProjectSpark))

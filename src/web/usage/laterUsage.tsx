import { type ComponentType, lazy, Suspense } from "react"

/** Part that adds to what is there already: nothing is shown while it loads, or where it cannot be loaded. */
const quietly = <P extends object>(load: () => Promise<ComponentType<P>>): ComponentType<P> => {
  const none = { default: (): null => null }
  const Part = lazy<ComponentType<P>>(() => load().then((part) => ({ default: part }), () => none))
  return (props) => (
    <Suspense fallback={null}>
      <Part {...props} />
    </Suspense>
  )
}

export const ServerUsage = quietly(() => import("./ServerUsage.tsx").then((part) => part.ServerUsage))
export const ContainerUsage = quietly(() => import("./ContainerUsage.tsx").then((part) => part.ContainerUsage))
export const ProjectSpark = quietly(() => import("./ProjectSpark.tsx").then((part) => part.ProjectSpark))

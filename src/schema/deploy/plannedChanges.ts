import type { ContainerPlan } from "./ContainerPlan.ts"

/** Files and images that a deploy changes. */
export const filterChangedParts = ({ files, images }: Pick<ContainerPlan, "files" | "images">) => ({
  files: files.filter(({ change }) => change !== "same"),
  images: images.filter(({ change }) => change !== "same")
})

/** Counts the changes of a project's plan, the same for every screen and command. */
export const countChanges = (plan: Pick<ContainerPlan, "files" | "images">): number => {
  const { files, images } = filterChangedParts(plan)
  return files.length + images.length
}

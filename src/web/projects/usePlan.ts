import type { ContainerPlan } from "../../schema/ContainerPlan.ts"
import type { LocalProject } from "../../schema/Project.ts"
import { aFewAtOnce, useCall } from "../service/queries.ts"

/** What a deploy of a project would do now; nothing is asked while it names no server. */
export const usePlan = (project: LocalProject | undefined, enabled = true) =>
  useCall(
    ["plan", project?.path, project?.serverId, project?.remotePath],
    (berth) =>
      aFewAtOnce(
        berth.containerPlan({
          payload: {
            projectPath: project?.path ?? "",
            serverId: project?.serverId ?? "",
            remotePath: project?.remotePath ?? ""
          }
        })
      ),
    {
      enabled: enabled && project !== undefined && project.serverId !== null && project.hasComposeFile,
      staleTime: 60_000
    }
  )

/** The files and images that a deploy would bring, change or remove. */
export const changedIn = ({ files, images }: ContainerPlan) => ({
  files: files.filter(({ change }) => change !== "same"),
  images: images.filter(({ change }) => change !== "same")
})

/** How many files and images a deploy would bring, change or remove. */
export const countChanges = (plan: ContainerPlan): number => {
  const { files, images } = changedIn(plan)
  return files.length + images.length
}

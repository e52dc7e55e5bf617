import { isEnded, type Run } from "../../schema/runs/Run.ts"

const underWayTitles: Partial<Record<Run["kind"], string>> = {
  deploy: "Deploying",
  "deploy-all": "Deploying",
  rollback: "Rolling back"
}

/** Title of the latest run of a stack. */
export const formatRunTitle = ({ kind, state, subject }: Pick<Run, "kind" | "state" | "subject">): string => {
  if (!isEnded(state)) return underWayTitles[kind] ?? "Under way"
  if (kind === "deploy-all") return "Last deploy to its servers"
  return `Last ${kind === "stack" ? subject.action ?? "change" : kind}`
}

import { later } from "../ui/later.tsx"

// Loaded on first use: users open a project mostly for its first tab.
export const Applications = later(
  "The applications",
  () => import("./Applications.tsx").then((part) => part.Applications)
)
export const DeployTargets = later(
  "The plans",
  () => import("./plan/DeployTargets.tsx").then((part) => part.DeployTargets)
)
export const PlanPanel = later("The plan", () => import("./plan/PlanPanel.tsx").then((part) => part.PlanPanel))
export const TimeLine = later(
  "The runs and releases",
  () => import("./releases/TimeLine.tsx").then((part) => part.TimeLine)
)
export const VariablesPart = later(
  "The variables",
  () => import("./VariablesPart.tsx").then((part) => part.VariablesPart)
)

import { lazyComponent } from "../ui/lazyComponent.tsx"

// Loaded on first use: users open a project mostly for its first tab.
export const Applications = lazyComponent(
  "The applications",
  () => import("./Applications.tsx").then((part) => part.Applications)
)
export const DeployTargets = lazyComponent(
  "The plans",
  () => import("./plan/DeployTargets.tsx").then((part) => part.DeployTargets)
)
export const PlanPanel = lazyComponent("The plan", () => import("./plan/PlanPanel.tsx").then((part) => part.PlanPanel))
export const TimeLine = lazyComponent(
  "The runs and releases",
  () => import("./releases/TimeLine.tsx").then((part) => part.TimeLine)
)
export const VariablesPart = lazyComponent(
  "The variables",
  () => import("./VariablesPart.tsx").then((part) => part.VariablesPart)
)

import type { StepOutcome } from "../../services/runs/Steps.ts"
import type { StackHealth } from "./awaitHealth.ts"

type Health = Pick<StackHealth, "complaints" | "status">

/** Outcome of the step that waits for a stack; one that did not get healthy is an error. */
export const healthOutcome = ({ complaints, status }: Health): StepOutcome => ({
  status: status === "healthy" ? "done" : "error",
  detail: complaints === "" ? status : complaints
})

/** How a stack stood, as the rest of a sentence about it. */
export const healthVerdict = ({ complaints, status }: Health): string =>
  status === "healthy" ? "is healthy" : `is ${status}: ${complaints}`

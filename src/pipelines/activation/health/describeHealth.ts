import type { StepOutcome } from "../../../services/runs/Steps.ts"
import type { StackHealth } from "./awaitHealth.ts"

type Health = Pick<StackHealth, "complaints" | "status">

/** Outcome of the step `health`; a stack that did not get healthy is an error. */
export const toHealthOutcome = ({ complaints, status }: Health): StepOutcome => ({
  status: status === "healthy" ? "done" : "error",
  detail: complaints === "" ? status : complaints
})

/** State of a stack as the predicate of a sentence. */
export const describeHealth = ({ complaints, status }: Health): string =>
  status === "healthy" ? "is healthy" : `is ${status}: ${complaints}`

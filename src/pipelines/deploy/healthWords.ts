import type { StackHealth } from "./awaitHealth.ts"

type Health = Pick<StackHealth, "complaints" | "status">

/** How a stack stood, as the detail of a step. */
export const healthDetail = ({ complaints, status }: Health): string =>
  complaints === "" ? status : `${status}: ${complaints}`

/** How a stack stood, as the rest of a sentence about it. */
export const healthVerdict = ({ complaints, status }: Health): string =>
  status === "healthy" ? "is healthy" : `is ${status}: ${complaints}`

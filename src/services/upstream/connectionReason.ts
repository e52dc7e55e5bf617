/** Reason of a failed connection, from the innermost cause. */
export const connectionReason = (cause: unknown): string => {
  if (!(cause instanceof Error)) return String(cause)
  if (cause.cause instanceof Error) return connectionReason(cause.cause)
  if (cause.message !== "") return cause.message
  return "code" in cause && typeof cause.code === "string" ? cause.code : cause.name
}

/** Environment variables of the process. */
export type Environment = Readonly<Record<string, string | undefined>>

/** True for a terminal that shows colours, unless `NO_COLOR` has a value. */
export const hasColor = ({ isTTY }: { readonly isTTY: boolean }, environment: Environment): boolean =>
  isTTY && (environment["NO_COLOR"] ?? "") === "" && environment["TERM"] !== "dumb"

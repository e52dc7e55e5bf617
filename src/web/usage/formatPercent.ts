/** Formats a share of a CPU. */
export const formatPercent = (value: number): string => `${value.toFixed(1)} %`

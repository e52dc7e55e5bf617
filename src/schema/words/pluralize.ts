/** Formats a count with its noun: `1 file`, `2 files`. */
export const pluralize = (number: number, one: string, several = `${one}s`): string =>
  `${number} ${number === 1 ? one : several}`

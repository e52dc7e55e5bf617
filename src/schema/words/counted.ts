/** A number of things in words: `1 file`, `2 files`. */
export const counted = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? "" : "s"}`

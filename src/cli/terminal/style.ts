import type { Surface } from "./Screen.ts"

const codes = { bold: [1, 22], dim: [2, 22], red: [31, 39], green: [32, 39], yellow: [33, 39], cyan: [36, 39] } as const

export type Style = keyof typeof codes

/** Styles text on surfaces with colours. */
export const makeStyler = ({ hasColor }: Pick<Surface, "hasColor">) => (style: Style, text: string): string => {
  const [on, off] = codes[style]
  return hasColor && text !== "" ? `\u001b[${on}m${text}\u001b[${off}m` : text
}

/** Six colours that are distinguishable on dark and light terminals. */
const several = [36, 35, 33, 32, 34, 31] as const

/** Colours text by index; colours repeat after the last. */
export const colorByIndex = ({ hasColor }: Pick<Surface, "hasColor">) => (index: number, text: string): string =>
  hasColor ? `\u001b[${several[index % several.length]}m${text}\u001b[39m` : text

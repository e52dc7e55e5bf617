import { isBlank, isComment, type Line, measureIndent } from "./proxyText.ts"

/** A section of the `http` mapping: index of its header line, and of the first line after the section. */
export interface Section {
  readonly name: string
  readonly header: number
  readonly end: number
}

// Two spaces and the name, followed by at most an empty mapping and a comment.
const headerPattern = /^  ([A-Za-z][A-Za-z0-9_-]*):(?:[ \t]+\{[ \t]*\})?(?:[ \t]+#.*|[ \t]*)$/

/** True for a line with content other than a comment. */
export const isContent = ({ literal, text }: Line) => literal || !(isBlank(text) || isComment(text))

/** True if a line ends the section before it: content at the same depth or above. */
const endsSection = (line: Line) => isContent(line) && !line.literal && (!line.http || measureIndent(line.text) <= 2)

/** Sections whose header lines have exactly two spaces of indent, in the order of the file. */
export const findSections = (lines: ReadonlyArray<Line>): ReadonlyArray<Section> => {
  const found: Array<Section> = []
  let end = lines.length
  for (let index = lines.length - 1; index >= 0; index--) {
    const line = lines[index]
    if (line === undefined) continue
    const name = line.http && !line.literal ? headerPattern.exec(line.text)?.[1] : undefined
    if (name !== undefined) found.push({ name, header: index, end })
    if (endsSection(line)) end = index
  }
  return found.toReversed()
}

/** True if a line belongs to its section: content, or a comment at the depth of the entries. */
const isOwn = (line: Line): boolean => isContent(line) || (isComment(line.text) && measureIndent(line.text) > 2)

/** Index after the last line that belongs to the section; only blank lines and comments follow up to its end. */
export const findSectionEnd = (lines: ReadonlyArray<Line>, { end, header }: Section): number =>
  lines.slice(header, end).findLastIndex(isOwn) + header + 1

/** Header without an empty mapping, so that entries may follow. */
export const openSectionHeader = (header: Line): Line => ({
  ...header,
  text: header.text.replace(/:[ \t]+\{[ \t]*\}/, ":")
})

/** The header of a section without entries: a bare `routers:` would be null, which the proxy refuses. */
export const closeSectionHeader = (header: Line): Line => ({
  ...header,
  text: openSectionHeader(header).text.replace(":", ": {}")
})

/** Key at the beginning of a line, and its indent. */
export const parseKeyLine = (
  { literal, text }: Line
): { readonly indent: number; readonly key: string } | undefined => {
  const found = literal ? null : /^([ \t]*)(["']?)([A-Za-z0-9_][A-Za-z0-9_-]*)\2[ \t]*:(?=[ \t]|$)/.exec(text)
  return found?.[1] === undefined || found[3] === undefined ? undefined : { indent: found[1].length, key: found[3] }
}

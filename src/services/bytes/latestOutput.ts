import type { OutputStream } from "../../schema/runs/Run.ts"

/** Maximum number of queued pieces. */
const mostPieces = 1_024

/** Output of a program on one of its streams. */
export interface OutputPiece {
  readonly stream: OutputStream
  readonly text: string
}

/** Output of a program that is not yet delivered, and the number of lines dropped before it. */
export interface LatestOutput {
  readonly add: (piece: OutputPiece) => void
  readonly take: () => { readonly dropped: number; readonly pieces: ReadonlyArray<OutputPiece> }
}

/** Number of line ends in a text. */
export const countLines = (text: string): number => {
  let count = 0
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) count += 1
  return count
}

/** Merges consecutive pieces of the same stream. */
const joined = (pieces: ReadonlyArray<OutputPiece>): ReadonlyArray<OutputPiece> => {
  const all: Array<{ readonly stream: OutputStream; readonly texts: Array<string> }> = []
  for (const { stream, text } of pieces) {
    const last = all.at(-1)
    if (last?.stream === stream) last.texts.push(text)
    else all.push({ stream, texts: [text] })
  }
  return all.map(({ stream, texts }) => ({ stream, text: texts.join("") }))
}

/**
 * Bounded buffer of output that arrives faster than it is delivered; the oldest is dropped first. Drops whole lines: a
 * secret that is cut in two would no longer be recognized.
 */
export const makeLatestOutput = (mostCharacters: number): LatestOutput => {
  let pieces: Array<OutputPiece> = []
  let size = 0
  let dropped = 0

  /** True when the beginning of the next line was dropped, so that the rest must be dropped too. */
  let isBroken = false

  const startsBroken = () => isBroken
  const isOver = () => size > mostCharacters || pieces.length > mostPieces
  /** Drops the first piece up to an index, or the whole piece if the index is 0. */
  const drop = (end: number) => {
    const first = pieces.shift()
    if (first === undefined) return
    const gone = end === 0 ? first.text : first.text.slice(0, end)
    size -= gone.length
    dropped += countLines(gone)
    isBroken = !gone.endsWith("\n")
    if (gone.length < first.text.length) pieces.unshift({ ...first, text: first.text.slice(gone.length) })
  }
  const lineEnd = (from: number) => (pieces[0]?.text.indexOf("\n", from) ?? -1) + 1
  const trim = () => {
    while (isOver() && pieces.length > 1) drop(0)
    if (isOver()) drop(lineEnd(size - mostCharacters - 1))
    while (pieces.length > 0 && startsBroken()) drop(lineEnd(0))
  }
  return {
    add: (piece) => {
      if (piece.text === "") return
      pieces.push(piece)
      size += piece.text.length
      if (isOver() || isBroken) trim()
    },
    take: () => {
      const taken = { dropped, pieces: joined(pieces) }
      pieces = []
      size = 0
      dropped = 0
      return taken
    }
  }
}

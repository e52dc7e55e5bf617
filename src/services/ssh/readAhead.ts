import { Chunk, Either, Option } from "effect"

/** Asks for bytes at an offset; the answer is how many came, 0 at the end of the file. */
export type ReadAt = (
  bytes: Buffer,
  from: number,
  length: number,
  offset: number,
  answer: (error: Error | null | undefined, count: number) => void
) => void

/** The file ended before its size: it became shorter while it was read. */
export const endedEarly = new Error("it became shorter while it was read")

/** The next pieces, or why there are none: nothing at the end. */
export type NextPieces = Either.Either<Chunk.Chunk<Uint8Array>, Option.Option<Error>>

interface Piece {
  readonly bytes: Buffer
  readonly offset: number
  have: number
  error?: Error
}

/** Enough to fill a long line, and no more than that in memory. */
const pieceSize = 32 * 1024
const piecesAtOnce = 64
/** Pieces per batch, which keeps the cost of handing them over low. */
const piecesTogether = 8

/**
 * Reads `size` bytes, many pieces at once, and hands them over in order. `next` answers when
 * the next pieces are there. After `stop` no more is asked for.
 */
export const readAhead = (read: ReadAt, size: number) => {
  // A fiber for each piece would cost several times what carrying it does.
  const pieces: Array<Piece> = []
  let asked = 0
  let stopped = false
  let progress = () => {}

  const ask = (piece: Piece): void =>
    read(piece.bytes, piece.have, piece.bytes.length - piece.have, piece.offset + piece.have, (error, count) => {
      if (stopped) return
      piece.have += error ? 0 : count
      if (error) piece.error = error
      else if (count === 0) piece.error = endedEarly
      else if (piece.have < piece.bytes.length) return ask(piece)
      progress()
    })

  const fill = (): void => {
    while (pieces.length < piecesAtOnce && asked < size) {
      const piece: Piece = { bytes: Buffer.allocUnsafe(Math.min(pieceSize, size - asked)), offset: asked, have: 0 }
      asked += piece.bytes.length
      pieces.push(piece)
      ask(piece)
    }
  }

  const take = (): NextPieces | undefined => {
    fill()
    if (pieces.length === 0) return Either.left(Option.none())
    const open = pieces.findIndex((piece) => piece.error !== undefined || piece.have < piece.bytes.length)
    const ready = open < 0 ? pieces.length : open
    const error = pieces[open]?.error
    if (ready === 0 && error !== undefined) return Either.left(Option.some(error))
    if (error === undefined && ready < Math.min(piecesTogether, pieces.length)) return undefined
    const done = pieces.splice(0, ready)
    fill()
    return Either.right(Chunk.unsafeFromArray(done.map((piece) => piece.bytes)))
  }

  const next = (answer: (taken: NextPieces) => void): void => {
    progress = () => {
      const taken = take()
      if (taken === undefined) return
      progress = () => {}
      answer(taken)
    }
    progress()
  }

  const stop = (): void => {
    stopped = true
  }
  return { next, stop }
}

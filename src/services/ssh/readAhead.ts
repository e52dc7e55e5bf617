import { Chunk, Either, Option } from "effect"

/** Requests bytes at an offset; the callback receives their number, 0 at the end of the file. */
export type ReadAt = (
  bytes: Buffer,
  from: number,
  length: number,
  offset: number,
  answer: (error: Error | null | undefined, count: number) => void
) => void

/** The file ended before its expected size: it was truncated while it was read. */
export const endedEarly = new Error("it became shorter while it was read")

/** The next pieces, or the error instead of them; none at the end of the file. */
export type NextPieces = Either.Either<Chunk.Chunk<Uint8Array>, Option.Option<Error>>

interface Piece {
  readonly bytes: Buffer
  readonly offset: number
  have: number
  error?: Error
}

/** Together with `piecesAtOnce`, enough to saturate a link with high latency; also the limit of memory in use. */
const pieceSize = 32 * 1024
const piecesAtOnce = 64
/** Pieces per batch, which reduces the cost of emitting them. */
const piecesTogether = 8

/**
 * Reads `size` bytes with many concurrent requests, and returns the pieces in order. `next` completes when the next
 * pieces are available. After `stop` no more requests are sent.
 */
export const readAhead = (read: ReadAt, size: number) => {
  // A fiber per piece would cost several times as much as its transfer.
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

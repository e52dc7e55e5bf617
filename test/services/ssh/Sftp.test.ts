import { describe, expect, it } from "@effect/vitest"
import { Chunk, Either, Option } from "effect"
import { endedEarly, type NextPieces, readAhead, type ReadAt } from "../../../src/services/ssh/Sftp.ts"

type Request = {
  readonly length: number
  readonly offset: number
  readonly give: (count: number) => void
  readonly fail: (error: Error) => void
}

/** A server whose answers the test gives one by one; bytes are their offset. */
const server = () => {
  const open: Array<Request> = []
  const read: ReadAt = (bytes, from, length, offset, answer) => {
    open.push({
      length,
      offset,
      give: (count) => {
        for (let at = 0; at < count; at++) bytes[from + at] = (offset + at) % 251
        answer(undefined, count)
      },
      fail: (error) => answer(error, 0)
    })
  }
  const answer = (index: number): Request => {
    const [request] = open.splice(index, 1)
    if (request === undefined) throw new Error("nothing was asked")
    return request
  }
  return { open, read, answer }
}

const nextOf = ({ next }: ReturnType<typeof readAhead>) => {
  const taken: Array<NextPieces> = []
  next((one) => taken.push(one))
  return taken
}

const bytesOf = (taken: ReadonlyArray<NextPieces>) =>
  Buffer.concat(taken.flatMap((one) => Either.isRight(one) ? Chunk.toReadonlyArray(one.right) : []))

const expected = (length: number) => Buffer.from(Array.from({ length }, (_, at) => at % 251))

describe("readAhead", () => {
  it("asks for 64 pieces of 32 KiB and no more before some are taken", () => {
    const { answer, open, read } = server()
    const reading = readAhead(read, 10 * 1024 * 1024)
    const first = nextOf(reading)
    expect(open).toHaveLength(64)
    expect(open.map((request) => request.offset)).toEqual(open.map((_, index) => index * 32_768))
    for (let index = 0; index < 8; index++) answer(0).give(32_768)
    expect(bytesOf(first)).toHaveLength(8 * 32_768)
    expect(open).toHaveLength(64)
  })

  it("puts answers in order and completes short ones", () => {
    const { answer, open, read } = server()
    const taken = nextOf(readAhead(read, 70_000))
    expect(open.map((request) => request.length)).toEqual([32_768, 32_768, 4464])
    answer(2).give(4464)
    answer(1).give(32_768)
    expect(taken).toEqual([])
    answer(0).give(1000)
    expect(open).toMatchObject([{ offset: 1000, length: 31_768 }])
    answer(0).give(31_768)
    expect(bytesOf(taken).equals(expected(70_000))).toBe(true)
  })

  it("ends after the last piece", () => {
    const { answer, read } = server()
    const reading = readAhead(read, 10)
    const first = nextOf(reading)
    answer(0).give(10)
    expect(bytesOf(first)).toHaveLength(10)
    expect(nextOf(reading)).toEqual([Either.left(Option.none())])
  })

  it("hands over what came before a failure, then the failure", () => {
    const { answer, read } = server()
    const reading = readAhead(read, 100_000)
    const first = nextOf(reading)
    answer(0).give(32_768)
    answer(0).fail(new Error("disk"))
    expect(bytesOf(first)).toHaveLength(32_768)
    expect(nextOf(reading)).toEqual([Either.left(Option.some(new Error("disk")))])
  })

  it("fails where the file ends before its size", () => {
    const { answer, read } = server()
    const taken = nextOf(readAhead(read, 10))
    answer(0).give(4)
    answer(0).give(0)
    expect(taken).toEqual([Either.left(Option.some(endedEarly))])
  })

  it("asks for nothing more once it was stopped", () => {
    const { answer, open, read } = server()
    const reading = readAhead(read, 10)
    nextOf(reading)
    reading.stop()
    answer(0).give(4)
    expect(open).toEqual([])
  })
})

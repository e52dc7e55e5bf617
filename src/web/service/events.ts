import { send } from "./berth.ts"
import { ServiceFailure } from "./ServiceFailure.ts"

/** One server-sent event; `data` is JSON. */
export interface ServiceEvent {
  readonly id: string | undefined
  readonly event: string
  readonly data: string
}

const parse = (block: string): ServiceEvent | undefined => {
  const data: Array<string> = []
  let event = "message"
  let id: string | undefined
  for (const line of block.split("\n")) {
    const [, name, value = ""] = /^(\w+): ?(.*)$/.exec(line) ?? []
    if (name === "data") data.push(value)
    else if (name === "event") event = value
    else if (name === "id") id = value
  }
  return data.length === 0 ? undefined : { event, id, data: data.join("\n") }
}

async function* blocks(response: Response): AsyncGenerator<string> {
  if (response.body === null) return
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ""
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    const parts = (rest + value).split("\n\n")
    rest = parts.pop() ?? ""
    yield* parts
  }
}

const pause = (millis: number, signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, millis)
    signal.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true })
  })

/** What a reader of events is told. */
export interface EventsReader {
  /** Several events at a time, because they come faster than a screen is drawn. */
  readonly onEvents: (events: ReadonlyArray<ServiceEvent>) => void
  readonly onFailure: (failure: ServiceFailure) => void
  /** Whether the stream is connected right now. */
  readonly onConnected?: (connected: boolean) => void
}

const first = 1_000
const longest = 15_000

const readOnce = async (path: string, last: string | undefined, reader: EventsReader, signal: AbortSignal) => {
  let seen = last
  const response = await send(path, { signal, headers: last === undefined ? {} : { "last-event-id": last } })
  reader.onConnected?.(true)
  let waiting: Array<ServiceEvent> = []
  let frame: ReturnType<typeof setTimeout> | undefined
  const flush = () => {
    frame = undefined
    const events = waiting
    waiting = []
    if (events.length > 0 && !signal.aborted) reader.onEvents(events)
  }
  for await (const block of blocks(response)) {
    const event = parse(block)
    if (event === undefined) continue
    seen = event.id ?? seen
    waiting.push(event)
    frame ??= setTimeout(flush, 50)
  }
  clearTimeout(frame)
  flush()
  return seen
}

/**
 * Reads the events of an address until `isLast` is one of them or the reader leaves. A broken stream is taken up after
 * the event that came last; an answer that refuses it ends it.
 */
export const followEvents = async (
  path: (last: string | undefined) => string,
  isLast: (event: ServiceEvent) => boolean,
  reader: EventsReader,
  signal: AbortSignal
): Promise<void> => {
  let last: string | undefined
  let wait = first
  const ended = new AbortController()
  const watched: EventsReader = {
    ...reader,
    onEvents: (events) => {
      wait = first
      last = events.findLast(({ id }) => id !== undefined)?.id ?? last
      if (events.some(isLast)) ended.abort()
      reader.onEvents(events)
    }
  }
  const isOver = () => signal.aborted || ended.signal.aborted
  while (!isOver()) {
    try {
      await readOnce(path(last), last, watched, signal)
    } catch (cause) {
      if (signal.aborted) return
      if (cause instanceof ServiceFailure && cause.status >= 400) return reader.onFailure(cause)
    }
    reader.onConnected?.(false)
    if (!isOver()) await pause(wait, signal)
    wait = Math.min(wait * 2, longest)
  }
}

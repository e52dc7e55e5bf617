/** A call that did not succeed: the status of the answer, 0 when there was none, and a sentence for a person. */
export class ServiceFailure extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

const listeners = new Set<() => void>()

/** Tells those who listen that the service wants a token. */
export const sessionEnded = (): void => {
  for (const listener of listeners) listener()
}

/** Calls back whenever the service wants a token; returns how to stop that. */
export const onSessionEnded = (listener: () => void): () => void => {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

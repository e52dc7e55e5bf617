/** Failed call: HTTP status, 0 without a response, and a message for the user. */
export class ServiceFailure extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

const listeners = new Set<() => void>()

/** Notifies listeners that the service requires a token. */
export const notifySessionEnded = (): void => {
  for (const listener of listeners) listener()
}

/** Calls back when the service requires a token; returns the unsubscribe function. */
export const subscribeSessionEnded = (listener: () => void): () => void => {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

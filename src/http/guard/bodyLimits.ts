/** The most bytes that the body of a request may have. */
export const maxBodyBytes = 1_000_000

/** The most of a body that is read before its sender is known: a log-in sends a token and nothing else. */
export const maxUnknownBodyBytes = 16_000

/** Refusal of a longer body. */
export const describeBodyTooLong = (maxBytes: number): string =>
  `The request body is over ${maxBytes < 1_000_000 ? `${maxBytes / 1_000} kB` : `${maxBytes / 1_000_000} MB`}`

/** Maximum size of a request body, in bytes. */
export const maxBodyBytes = 1_000_000

/** Maximum size of a body before its sender is authenticated: a log-in contains only a token. */
export const maxUnknownBodyBytes = 16_000

/** Refusal of a longer body. */
export const describeBodyTooLong = (maxBytes: number): string =>
  `The request body is over ${maxBytes < 1_000_000 ? `${maxBytes / 1_000} kB` : `${maxBytes / 1_000_000} MB`}`

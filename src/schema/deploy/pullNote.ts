const begin = "the server pulls "

/** Plan warning about an image that the server pulls from a registry. */
export const describePull = (name: string, isAlways: boolean): string =>
  `${begin}${name} from its registry` +
  (isAlways ? ": its containers are made anew where it has changed there" : "")

/** True for a warning of `pullNote`, which is information and not a problem. */
export const isPullNote = (warning: string): boolean => warning.startsWith(begin)

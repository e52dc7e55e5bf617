const begin = "the server pulls "

/** Warning of a plan for an image that comes from a registry. */
export const describePull = (name: string, isAlways: boolean): string =>
  `${begin}${name} from its registry` +
  (isAlways ? ": its containers are made anew where it has changed there" : "")

/** True if a warning of a plan only says where an image comes from: nothing is wrong. */
export const isPullNote = (warning: string): boolean => warning.startsWith(begin)

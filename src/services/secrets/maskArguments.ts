/** A command line without its arguments, which may have credentials: `psql *** ***`. */
export const maskArguments = (command: ReadonlyArray<string>): ReadonlyArray<string> =>
  command.map((word, index) => index === 0 ? word : "***")

/** Environment of a local program: that of this service, without its own settings where variables are given. */
export const childEnvironment = (variables: Readonly<Record<string, string>> | undefined) => {
  // The limit of one malloc arena applies to this service alone: it slows down multi-threaded builds.
  const { MALLOC_ARENA_MAX: _, ...inherited } = process.env
  if (variables === undefined) return inherited
  return {
    ...Object.fromEntries(Object.entries(inherited).filter(([name]) => !name.startsWith("BERTH_"))),
    ...variables
  }
}

/** Name of an application's route: its own name in lower case, only letters and digits. */
export const toRouteName = (name: string): string => name.replace(/[^A-Za-z0-9]/g, "").toLowerCase()

/** Names of other applications whose routes have the same name. */
export const findNamesakes = (
  name: string,
  apps: ReadonlyArray<{ readonly name: string }>
): ReadonlyArray<string> =>
  apps.map((app) => app.name).filter((other) => other !== name && toRouteName(other) === toRouteName(name))

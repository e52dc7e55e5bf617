/** Group of settings, selected by the prefixes of their names. */
export interface SettingGroup {
  readonly title: string
  readonly about: string
  readonly prefixes: ReadonlyArray<string>
}

/** Groups that a fresh installation does not need. */
export const optionalParts = [
  {
    title: "Platform",
    about: "Creates and updates applications as platform.json declares them.",
    prefixes: ["platform."]
  },
  {
    title: "Git host",
    about: "Sets up webhooks, so that a push deploys.",
    prefixes: ["token", "gitHost."]
  },
  {
    title: "Proxy",
    about: "Leads domains to the ports of containers.",
    prefixes: ["proxy."]
  }
] as const satisfies ReadonlyArray<SettingGroup>

/** All groups, in display order. */
export const settingGroups: ReadonlyArray<SettingGroup> = [
  { title: "Projects", about: "Directories that Berth deploys from.", prefixes: ["projects."] },
  ...optionalParts,
  { title: "Deploys", about: "Defaults that container.json may change.", prefixes: ["deploy."] },
  { title: "Programs", about: "Programs of this machine that Berth runs.", prefixes: ["build.", "editor."] },
  { title: "History", about: "Runs that are kept, and where.", prefixes: ["runs.", "state."] },
  {
    title: "Numbers",
    about: "Usage of servers over time, and where Berth sends its own.",
    prefixes: ["stats.", "telemetry."]
  },
  { title: "Callers", about: "Who may call this service.", prefixes: ["http.", "mcp."] }
]

/** Selects the settings of a group. */
export const filterByGroup = <A extends { readonly name: string }>(
  { prefixes }: SettingGroup,
  settings: ReadonlyArray<A>
): ReadonlyArray<A> =>
  settings.filter(({ name }) =>
    prefixes.some((prefix) => prefix.endsWith(".") ? name.startsWith(prefix) : name === prefix)
  )

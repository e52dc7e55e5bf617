/** Where an application is shown: under the project that declares it, or else by its uuid. */
export const applicationHref = (
  { name, projectPath, uuid }: {
    readonly name: string
    readonly uuid: string | null
    readonly projectPath: string | null
  },
  projects: ReadonlyArray<{ readonly path: string; readonly name: string }>
): string => {
  const project = projects.find(({ path }) => path === projectPath)
  return project === undefined
    ? `/applications/${encodeURIComponent(uuid ?? name)}`
    : `/applications/${encodeURIComponent(project.name)}/${encodeURIComponent(name)}`
}

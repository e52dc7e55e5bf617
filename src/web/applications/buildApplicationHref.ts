/** Link to an application: under its declaring project, else by uuid. */
export const buildApplicationHref = (
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

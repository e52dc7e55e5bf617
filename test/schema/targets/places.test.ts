import { describe, expect, it } from "@effect/vitest"
import type { LocalProject } from "../../../src/schema/projects.ts"
import { findProtectedEnvironment, listDeployPlaces, narrowToPlace } from "../../../src/schema/targets.ts"

const project: LocalProject = {
  name: "shop",
  path: "/projects/shop",
  hasImageFile: false,
  hasComposeFile: true,
  hasPlatformJson: false,
  containerStatus: "configured",
  tarFile: null,
  serverId: "1",
  remotePath: "~/containers/shop",
  environments: [
    { name: "staging", targets: [{ serverId: "1", remotePath: "~/containers/shop-staging" }] },
    {
      name: "live",
      protected: true,
      targets: [{ serverId: "2", remotePath: "~/shop" }, { serverId: "3", remotePath: "~/shop" }]
    }
  ]
}
const live = { serverId: "3", remotePath: "~/shop", environment: "live" }

describe("the places of a project", () => {
  it("are that of the file, then those of its environments, each once", () => {
    expect(listDeployPlaces(project)).toEqual([
      { serverId: "1", remotePath: "~/containers/shop" },
      { serverId: "1", remotePath: "~/containers/shop-staging", environment: "staging" },
      { serverId: "2", remotePath: "~/shop", environment: "live" },
      live
    ])
    const same = { ...project, remotePath: "~/containers/shop-staging" }
    expect(listDeployPlaces(same).map(({ environment }) => environment)).toEqual(["staging", "live", "live"])
    expect(listDeployPlaces({ ...project, serverId: null })).toHaveLength(3)
    expect(listDeployPlaces({ ...project, serverId: null, environments: [] })).toEqual([])
  })

  it("narrow the project to one of them, with the targets of that environment alone", () => {
    const targets = project.environments?.[1]?.targets
    expect(narrowToPlace(project, live)).toMatchObject({ ...live, targets })
    const staging = { serverId: "1", remotePath: "~/containers/shop-staging", environment: "staging" }
    expect(narrowToPlace({ ...project, targets: [] }, staging)).not.toHaveProperty("targets")
    expect(narrowToPlace(project, { serverId: "1", remotePath: "~/containers/shop" })).toEqual(project)
  })

  it("are protected where one of their environments is", () => {
    expect(findProtectedEnvironment(project, live)).toBe("live")
    expect(findProtectedEnvironment(project, { serverId: "1", remotePath: "~/shop" })).toBeUndefined()
    expect(findProtectedEnvironment(project, { serverId: "1", remotePath: "~/containers/shop-staging" }))
      .toBeUndefined()
    expect(findProtectedEnvironment({}, live)).toBeUndefined()
  })
})

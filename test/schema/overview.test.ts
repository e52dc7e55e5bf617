import { expect, it } from "vitest"
import { findFirstStep } from "../../src/schema/overview.ts"

it.each([
  [false, false, false, "projects"],
  [false, true, false, "projects"],
  [true, false, false, "server"],
  [true, true, false, "deploy"],
  [true, true, true, undefined],
  // Applications of a platform need no server.
  [true, false, true, undefined],
  // Elsewhere the projects may lie outside of the root, or be adopted later.
  [false, true, true, undefined]
])("the next first step with projects %s, a server %s and a deploy %s is %s", (projects, server, deployed, next) => {
  expect(findFirstStep({ hasProjects: projects, hasServer: server, hasDeployed: deployed })).toBe(next)
})

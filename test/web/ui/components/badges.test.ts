import { expect, it } from "vitest"
import { toContainerTone } from "../../../../src/web/ui/components.tsx"

it.each([
  ["Up 3 hours", "good"],
  ["Up 3 hours (healthy)", "good"],
  ["Up 2 seconds (health: starting)", "warn"],
  ["Up 3 hours (Paused)", "warn"],
  ["Up 3 hours (unhealthy)", "bad"],
  ["Restarting (1) 3 seconds ago", "bad"],
  ["Exited (137) 2 hours ago", "bad"],
  ["Dead", "bad"],
  ["Removal In Progress", "warn"],
  ["Exited (0) 2 hours ago", "idle"],
  ["Created", "idle"]
])("shows a container that is %s as %s, on every screen", (status, tone) => {
  expect(toContainerTone(status)).toBe(tone)
})

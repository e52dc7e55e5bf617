import type { IconName } from "../ui/Icon.tsx"

/** The screens that the menu leads to. */
export const screens: ReadonlyArray<readonly [name: string, href: string, icon: IconName]> = [
  ["Overview", "/", "overview"],
  ["Activity", "/activity", "activity"],
  ["Servers", "/servers", "servers"],
  ["Applications", "/applications", "applications"],
  ["Routes", "/routes", "routes"],
  ["Webhooks", "/webhooks", "webhooks"]
]

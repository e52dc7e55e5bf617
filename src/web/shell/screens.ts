import type { IconName } from "../ui/Icon.tsx"

/** Screens of the menu. */
export const screens: ReadonlyArray<readonly [name: string, href: string, icon: IconName]> = [
  ["Overview", "/", "overview"],
  ["Activity", "/activity", "activity"],
  ["Logs", "/logs", "logs"],
  ["Servers", "/servers", "servers"],
  ["Applications", "/applications", "applications"],
  ["Routes", "/routes", "routes"],
  ["Webhooks", "/webhooks", "webhooks"],
  ["Settings", "/settings", "settings"]
]

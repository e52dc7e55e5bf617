import { group } from "../parse/command.ts"
import { declaredApplicationCommands } from "./declaredApplications.ts"
import { platformApplicationCommands } from "./platformApplications.ts"

export const applicationsCommands = [
  group({
    name: "app",
    summary: "The applications of the platform, and as projects declare them.",
    examples: ["berth app plan", "berth app up hello"]
  }, [...declaredApplicationCommands, ...platformApplicationCommands])
]

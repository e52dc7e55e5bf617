import { group } from "../parse/command.ts"
import { changelogCommand } from "./declared/changelog.ts"
import { driftCommand } from "./declared/drift.ts"
import { planCommand } from "./declared/plan.ts"
import { upCommand } from "./declared/up.ts"
import { verifyCommand } from "./declared/verify.ts"
import { platformApplicationCommands } from "./platformApplications.ts"

export const applicationsCommands = [
  group({
    name: "app",
    summary: "The applications of the platform, and as projects declare them.",
    examples: ["berth app plan", "berth app up hello"]
  }, [planCommand, upCommand, driftCommand, verifyCommand, changelogCommand, ...platformApplicationCommands])
]

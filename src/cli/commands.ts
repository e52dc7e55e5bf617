import { agentCommand } from "./commands/agent.ts"
import { applicationsCommands } from "./commands/applications.ts"
import { completionsCommand } from "./commands/completions.ts"
import { containersCommands } from "./commands/containers.ts"
import { deployCommands } from "./commands/deploy.ts"
import { healthCommands } from "./commands/health.ts"
import { logsCommands } from "./commands/logs.ts"
import { notifyCommands } from "./commands/notify.ts"
import { overviewCommand } from "./commands/overview.ts"
import { projectsCommands } from "./commands/projects.ts"
import { routesCommands } from "./commands/routes.ts"
import { runsCommands } from "./commands/runs.ts"
import { serversCommands } from "./commands/servers/servers.ts"
import { serviceCommands } from "./commands/service.ts"
import { settingsCommands } from "./commands/settings.ts"
import { stacksCommands } from "./commands/stacks.ts"
import { webhooksCommands } from "./commands/webhooks.ts"
import { execCommands } from "./exec/commands.ts"
import { type CommandNode, defineCommandGroup } from "./parse/command.ts"

/** Root of the command tree. */
export const berthCommand: CommandNode = defineCommandGroup(
  {
    name: "berth",
    summary: "Berth deploys container projects to your own servers over SSH.",
    details:
      "Without a command it shows what stands and what needs care. It works by itself, or with a service: the one " +
      "of BERTH_URL (with BERTH_TOKEN), or the one that runs here with the same settings.",
    examples: ["berth deploy hello", "berth logs hello -f", "berth <command> --help"]
  },
  [
    overviewCommand,
    ...deployCommands,
    ...stacksCommands,
    ...logsCommands,
    ...execCommands,
    ...projectsCommands,
    ...containersCommands,
    ...serversCommands,
    ...settingsCommands,
    ...applicationsCommands,
    ...routesCommands,
    ...webhooksCommands,
    ...runsCommands,
    ...notifyCommands,
    ...healthCommands,
    ...serviceCommands,
    agentCommand,
    completionsCommand
  ]
)

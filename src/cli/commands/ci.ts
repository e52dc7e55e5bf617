import { Effect, Option } from "effect"
import { lstat, mkdir, writeFile } from "node:fs/promises"
import { dirname } from "node:path"
import { quoteInput } from "../../schema/words.ts"
import { exitCodes, Failed, Screen, Usage } from "../output.ts"
import { argument, defineLocalCommand, flagOption, textOption } from "../parse.ts"

/** A workflow of a system for continuous integration: the file that it reads, and its text. */
interface Workflow {
  readonly file: string
  readonly build: (action: string) => string
  /** Next steps after it was written. */
  readonly next: string
}

// A job with a pull request of a fork has no secrets, and runs code that nobody has read yet.
const actionJob = (action: string) =>
  `name: Deploy
on:
  pull_request:
  push:
    branches: [main]
permissions:
  contents: read
  pull-requests: write
jobs:
  berth:
    runs-on: ubuntu-latest
    if: github.event_name != 'pull_request' || github.event.pull_request.head.repo.full_name == github.repository
    steps:
      - uses: actions/checkout@v4
      - uses: ${action}
        with:
          command: \${{ github.event_name == 'pull_request' && 'plan' || 'deploy' }}
          settings: \${{ vars.BERTH_SETTINGS }}
          ssh-key: \${{ secrets.BERTH_SSH_KEY }}
          comment: \${{ github.event_name == 'pull_request' }}
          github-token: \${{ github.token }}
`

const gitlabJobs = () =>
  `# BERTH_SETTINGS and BERTH_SSH_KEY are variables of the project (Settings, CI/CD). Merge requests get those that are not protected.
.berth:
  image: node:22
  before_script:
    - command -v berth >/dev/null || npm install --global "$BERTH_PACKAGE"
plan:
  extends: .berth
  rules:
    - if: $CI_PIPELINE_SOURCE == "merge_request_event"
  script:
    - berth deploy . --dry-run --no-secrets --report plan.md
  artifacts:
    paths: [plan.md]
deploy:
  extends: .berth
  rules:
    - if: $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH
  resource_group: production
  script:
    - berth deploy . --yes --report deploy.md
  artifacts:
    when: always
    paths: [deploy.md]
`

const shellScript = () =>
  `#!/bin/sh
# BERTH_SETTINGS holds the settings and BERTH_SSH_KEY the key, or BERTH_URL and BERTH_TOKEN name a service.
set -eu
case \${1:-} in
  plan) exec berth deploy . --dry-run --no-secrets --report plan.md ;;
  deploy) exec berth deploy . --yes --report deploy.md ;;
  *)
    echo "usage: $0 plan|deploy" >&2
    exit 64
    ;;
esac
`

const secretsNext = "Set the variable BERTH_SETTINGS and the secret BERTH_SSH_KEY in the repository's settings"
const workflows: Readonly<Record<string, Workflow>> = {
  github: { file: ".github/workflows/deploy.yml", build: actionJob, next: secretsNext },
  gitea: { file: ".gitea/workflows/deploy.yml", build: actionJob, next: secretsNext },
  gitlab: {
    file: ".gitlab-ci.yml",
    build: gitlabJobs,
    next: "Set the variables BERTH_SETTINGS, BERTH_SSH_KEY and BERTH_PACKAGE of the project"
  },
  shell: { file: "deploy.sh", build: shellScript, next: "Run it with sh deploy.sh plan, and sh deploy.sh deploy" }
}
const systems = Object.keys(workflows)

/** Fails where a directory of a file is a link, which a cloned repository may have brought to lead elsewhere. */
const refuseLinks = async (file: string): Promise<void> => {
  const directory = dirname(file)
  if (directory === ".") return
  await refuseLinks(directory)
  const found = await lstat(directory).catch(() => undefined)
  if (found?.isSymbolicLink() === true) {
    throw new Error(`${directory} is a link, and Berth follows none there. Put a directory in its place`)
  }
}

/** Creates a file; never replaces one. */
const create = (file: string, text: string) =>
  Effect.tryPromise({
    try: async () => {
      await refuseLinks(file)
      await mkdir(dirname(file), { recursive: true })
      await writeFile(file, text, { flag: "wx" })
    },
    catch: (cause) =>
      new Failed({
        message: cause instanceof Error && "code" in cause && cause.code === "EEXIST"
          ? `${file} exists already: nothing was written. Without --write it is printed, to take parts of it`
          : `${file} cannot be written: ${cause instanceof Error ? cause.message : String(cause)}`
      })
  })

/** Prints or writes the workflow of a system for continuous integration. */
export const ciCommand = defineLocalCommand(
  {
    name: "ci",
    summary: "Print a workflow that plans and deploys: github, gitea, gitlab or shell.",
    details:
      "Pull requests get the plan, the main branch is deployed. --write creates the file in the working directory.\n" +
      "--action is the address of Berth's repository and a version of it; Gitea takes a whole URL.",
    examples: ["berth ci github --action ann/berth@v2 --write", "berth ci gitlab >.gitlab-ci.yml"]
  },
  {
    system: argument("system", `${systems.join(", ")}.`, { choices: systems }),
    action: textOption("action", "Address and version of Berth's repository, for github and gitea.", {
      value: "owner/name@ref"
    }),
    write: flagOption("write", "Write the file, which must not exist yet.")
  },
  Effect.fnUntraced(function*({ action, system, write }) {
    const { print, say } = yield* Screen
    const workflow = Object.hasOwn(workflows, system) ? workflows[system] : undefined
    if (workflow === undefined) {
      return yield* new Usage({
        message: `There are workflows for ${systems.join(", ")}, not for ${quoteInput(system)}`
      })
    }
    const address = Option.getOrElse(action, () => "OWNER/berth@REF")
    if (!/^[\w.:/-]+@[\w./-]+$/.test(address)) {
      return yield* new Usage({ message: `--action must be like ann/berth@v2, not ${quoteInput(address)}` })
    }
    const text = workflow.build(address)
    if (!write) {
      yield* print(text.trimEnd())
      return exitCodes.done
    }
    yield* create(workflow.file, text)
    const placeholder = text.includes("OWNER/berth@REF")
      ? "\nReplace OWNER/berth@REF in it with the address of Berth's repository and a version of it."
      : ""
    yield* say(`Wrote ${workflow.file}. ${workflow.next}: docs/ci.md.${placeholder}`)
    return exitCodes.done
  })
)

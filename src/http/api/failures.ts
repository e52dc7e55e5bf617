/** Why an endpoint answers with a failure: its status, and when that is. */
type Reason = readonly [status: number, when: string]

const query: Reason = [400, "A query parameter is unknown or does not fit."]
const body: ReadonlyArray<Reason> = [
  [400, "The body is not JSON, or a field of it is unknown or does not fit."],
  [413, "The body is longer than 1 MB."],
  [415, "The body is not sent as application/json."]
]
const always: ReadonlyArray<Reason> = [
  query,
  [401, "The token is missing or wrong; without a token in the settings, the caller is not on this machine."],
  [403, "The host name or the origin of the request is not accepted."],
  [429, "The token is wrong, like too many that came from the same address."],
  [500, "The service failed in a way that was not foreseen: its log says more."]
]
/** Of an endpoint that takes no body, where a request may have one. */
const noBody: ReadonlyArray<Reason> = [
  [400, "A body with fields is sent, and the endpoint takes none."],
  [413, "The body is longer than 1 MB."],
  [415, "The body is not sent as application/json."]
]
const settings: Reason = [500, "The settings cannot be used as they are."]
const server: ReadonlyArray<Reason> = [
  settings,
  [400, "A path or name cannot be used on a server."],
  [404, "No stored server has this id or name."],
  [409, "Several stored servers have this name."],
  [502, "The server cannot be reached, refuses the log-in or a command, or does not answer in time."]
]
const outside: Reason = [
  403,
  "The path on this machine is not under the projects root, and the token may not leave that."
]
const project: ReadonlyArray<Reason> = [
  settings,
  outside,
  [400, "The project's directory cannot be used."],
  [422, "A file of the project cannot be used as it is."],
  [500, "A file of this machine cannot be read or written."]
]
const platform: ReadonlyArray<Reason> = [
  settings,
  [400, "The platform refuses the request, or a part of it cannot be sent on."],
  [404, "The platform does not know what was asked for."],
  [409, "The platform says that it conflicts with what is there."],
  [422, "The platform refuses a value."],
  [429, "The platform receives too many requests."],
  [502, "The platform refuses the token, fails or cannot be reached."],
  [504, "The platform does not answer in time."]
]
const gitHost: Reason = [502, "The git host refuses, fails or cannot be reached."]
const proxy: ReadonlyArray<Reason> = [
  [409, "Somebody else is editing the proxy file."],
  [500, "The proxy file does not have the shape that an edit needs; it was left as it is."],
  [502, "The proxy file cannot be read or written, or its server cannot be reached."]
]
const store: Reason = [503, "The history of runs cannot be used now."]
const run: ReadonlyArray<Reason> = [
  [409, "The run was cancelled, or another process works on the same."],
  [422, "The Idempotency-Key was used for another request within the last 24 hours."],
  [429, "As many runs wait or are under way as can be; `Retry-After` says when to ask again."],
  [503, "The service is stopping, or runs cannot be recorded now."]
]
const watched: Reason = [429, "As many runs and logs are watched as can be; `Retry-After` says when to ask again."]
const oneRun: ReadonlyArray<Reason> = [[404, "No run has this id."], store]
const busy: Reason = [409, "Another process works on the same."]

const stack: ReadonlyArray<Reason> = [
  ...body,
  ...server,
  ...run,
  [404, "There is no stack in that directory, or it has no containers."],
  [502, "The server did not do it, or not all of it: the message says what runs now."]
]

/** What each endpoint can fail with, beside what every endpoint can. */
const own: Readonly<Record<string, ReadonlyArray<Reason>>> = {
  health: [],
  overview: [settings],
  listProjects: [settings, [500, "The projects root cannot be read."]],
  inspectProject: [...body, ...project],
  compareProject: [...body, ...project, ...server],
  initProject: [
    ...body,
    ...project,
    settings,
    [404, "No stored server has this id or name."],
    [409, "Several stored servers have this name, or no port can be told."]
  ],
  build: [...body, ...project, ...run, [500, "The shell that runs the build script cannot be started."]],
  pull: [...body, outside, ...server, ...run],
  editorDiff: [...body, outside, ...server, [500, "The editor cannot be started."]],
  listServers: [settings],
  saveServer: [...body, busy, [409, "Another server has the name or the id, or is known by another host key."], [
    500,
    "The settings or the host keys cannot be read or written."
  ]],
  sshDefaults: [],
  testServer: [...body, settings, [404, "No stored server has this id or name."], [
    409,
    "Several stored servers have this name."
  ]],
  removeServer: [...noBody, [409, "Several stored servers have this name."], busy, [
    500,
    "The settings cannot be read or written."
  ]],
  scanServer: [...server, [500, "What is deployed cannot be listed."]],
  listContainers: [...server, [500, "The containers cannot be listed."]],
  serverLogs: [...server, [500, "Neither a container nor a stack is named, or its logs cannot be read."]],
  followLogs: [
    ...server,
    [404, "There is no such container or stack."],
    watched,
    [429, "As many logs of the server are followed as can be at a time."],
    [500, "Neither a container nor a stack is named."]
  ],
  serverStats: [...server, [502, "Docker does not tell what the containers use."]],
  listReleases: [...server, [502, "The releases cannot be read, or Docker does not answer."]],
  deploy: [...body, ...project, ...server, ...run, [500, "A step failed; the earlier release runs on, or again."], [
    409,
    "What was planned no longer holds."
  ]],
  stopStack: stack,
  startStack: stack,
  restartStack: stack,
  removeStack: stack,
  rollback: [
    ...body,
    ...server,
    ...run,
    [404, "There is no such release."],
    [409, "The server no longer has all images of the release; nothing was changed."],
    [500, "A step failed; the earlier release runs on, or again."]
  ],
  containerPlan: [...body, ...project, ...server],
  listApplications: platform,
  createApplication: [...body, ...platform],
  findApplication: platform,
  updateApplication: [...body, ...platform],
  deleteApplication: [...noBody, ...platform],
  planRemoval: platform,
  removeApplication: [...body, ...platform],
  listEnvs: platform,
  createEnv: [...body, ...platform],
  deployApplication: [...noBody, ...platform],
  listPlatformServers: platform,
  drift: [...body, ...platform, ...project],
  platformPlan: [...body, ...platform, ...project, gitHost, busy, ...proxy, [500, "Too little can be read to plan."]],
  upsert: [...body, ...platform, ...project, ...run, [500, "A step failed; what earlier steps did stays."], [
    409,
    "What was planned no longer holds."
  ]],
  verify: [...body, ...project, settings, [422, "The project declares no application whose way could be followed."]],
  adopt: [
    ...body,
    ...platform,
    ...project,
    [409, "The project declares an application of this name already, or another process works on the same."],
    [422, "The application cannot be written as an entry."]
  ],
  platformConfig: project,
  changelog: project,
  nextPort: [...platform, ...proxy, [409, "A port in use is kept secret by the platform, or no port is left."]],
  listRoutes: [...proxy, settings],
  planRoute: [...body, ...proxy, settings, [409, "The name belongs to a route with another target."]],
  addRoute: [...body, ...proxy, settings, [409, "The name belongs to a route with another target."]],
  removeRoute: [...body, ...proxy, settings],
  setUpWebhooks: [...body, ...platform, gitHost],
  tearDownWebhooks: [...body, ...platform, gitHost],
  webhookStatus: [...platform, gitHost],
  testWebhook: [...body, ...platform, gitHost],
  listRuns: [store, [409, "Several stored servers have this name."]],
  getRun: oneRun,
  watchRun: [...oneRun, watched],
  openSession: [...body, [401, "The token is not one of the settings."]],
  showSession: [],
  closeSession: noBody,
  cancelRun: [...noBody, ...oneRun, [409, "The run has ended already."]]
}

/** Why an operation answers with a failure, by status, ascending. */
export const failuresOf = (operationId: string): ReadonlyArray<readonly [status: string, when: string]> => {
  const reasons = new Map<number, Set<string>>()
  for (const [status, when] of [...always, ...own[operationId] ?? []]) {
    reasons.set(status, (reasons.get(status) ?? new Set()).add(when))
  }
  return [...reasons].sort(([a], [b]) => a - b).map(([status, when]) => [String(status), [...when].join(" ")])
}

/** The operations whose failures are known. */
export const operationsWithFailures: ReadonlyArray<string> = Object.keys(own)

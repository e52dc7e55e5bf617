import { flagOption, textOption } from "../parse/parameters.ts"

/** Options of every command that calls the service. */
export const common = {
  json: flagOption("json", "Print exactly what the service answers, as JSON."),
  url: textOption("url", "The service to ask, in place of BERTH_URL or the one of this machine.", { value: "address" }),
  config: textOption("config", "The settings file, in place of BERTH_CONFIG.", { value: "file", names: "file" })
}

export const yes = flagOption("yes", "Do not ask; needed where there is no terminal.", "y")

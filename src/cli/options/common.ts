import { flag, text } from "../parse/parameters.ts"

/** Options of every command that calls the service. */
export const common = {
  json: flag("json", "Print exactly what the service answers, as JSON."),
  url: text("url", "The service to ask, in place of BERTH_URL or the one of this machine.", { value: "address" }),
  config: text("config", "The settings file, in place of BERTH_CONFIG.", { value: "file", names: "file" })
}

export const yes = flag("yes", "Do not ask; needed where there is no terminal.", "y")

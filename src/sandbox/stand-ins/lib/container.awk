# Describes a container for a template. Its file has lines of "key<TAB>value"; NOW is the time in seconds, MODE what the
# template is for: "inspect", or "ps", where some names mean something else, and ids are cut unless it is "ps-whole".
function escaped(v) { gsub(/\\/, "\\\\", v); gsub(/"/, "\\\"", v); return v }
function put(path, value) { print path "\t" value }
function age(seconds) {
  if (seconds < 1) return "Less than a second"
  if (seconds < 60) return seconds (seconds == 1 ? " second" : " seconds")
  if (seconds < 120) return "About a minute"
  if (seconds < 3600) return int(seconds / 60) " minutes"
  if (seconds < 7200) return "About an hour"
  if (seconds < 172800) return int(seconds / 3600) " hours"
  return int(seconds / 86400) " days"
}
{ at = index($0, "\t"); c[substr($0, 1, at - 1)] = substr($0, at + 1) }
END {
  now = ENVIRON["NOW"] + 0
  status = c["status"]
  health = c["health"]
  # A health check takes a moment to report.
  if (health != "" && now - c["started"] < 1) health = "starting"
  if (health != "" && status != "running") health = "unhealthy"
  if (status == "running") words = "Up " age(now - c["started"]) (health == "" ? "" : health == "starting" ? " (health: starting)" : " (" health ")")
  else if (status == "restarting") words = "Restarting (" c["code"] ") " age(now - c["finished"]) " ago"
  else if (status == "created") words = "Created"
  else words = "Exited (" c["code"] ") " age(now - c["finished"]) " ago"

  if (ENVIRON["MODE"] ~ /^ps/) {
    put(".ID", ENVIRON["MODE"] == "ps" ? substr(c["id"], 1, 12) : c["id"])
    put(".Names", c["name"])
    put(".Name", c["name"])
    put(".Image", c["asked"])
    put(".Status", words)
    put(".State", status)
    put(".Health", health)
    put(".ExitCode", c["code"] == "" ? 0 : c["code"])
    put(".Ports", status == "running" ? c["ports"] : "")
    put(".Command", "\"" c["command"] "\"")
    put(".CreatedAt", c["createdAt"])
    put(".RunningFor", age(now - c["created"]) " ago")
    put(".Service", c["service"])
    put(".Project", c["project"])
    put(".Config.Labels[com.docker.compose.oneoff]", "False")
    put(".Config.Labels[com.docker.compose.project]", c["project"])
    put(".Config.Labels[com.docker.compose.service]", c["service"])
    put(".Config.Labels[com.docker.compose.container-number]", "1")
    put(".Config.Labels[com.docker.compose.project.working_dir]", c["directory"])
    put(".Labels", "com.docker.compose.project=" c["project"] ",com.docker.compose.service=" c["service"])
    put("json:.", sprintf("{\"ID\":\"%s\",\"Name\":\"%s\",\"Names\":\"%s\",\"Image\":\"%s\",\"Service\":\"%s\",\"Project\":\"%s\",\"State\":\"%s\",\"Status\":\"%s\",\"Health\":\"%s\",\"ExitCode\":%d,\"Ports\":\"%s\"}", substr(c["id"], 1, 12), c["name"], c["name"], escaped(c["asked"]), c["service"], c["project"], status, words, health, c["code"], status == "running" ? c["ports"] : ""))
    exit
  }

  running = status == "running" || status == "restarting" ? "true" : "false"
  restarting = status == "restarting" ? "true" : "false"
  finished = c["finishedAt"] == "" ? "0001-01-01T00:00:00Z" : c["finishedAt"]
  started = c["startedAt"] == "" ? "0001-01-01T00:00:00Z" : c["startedAt"]
  code = c["code"] == "" ? 0 : c["code"]
  # Health checks are not run: one that declares a failure fails with these words.
  failing = health == "unhealthy" && status == "running"
  said = "this is a stand-in, the health check declares a failure"
  healthJson = sprintf("{\"Status\":\"%s\",\"FailingStreak\":%d,\"Log\":[%s]}", health, health == "unhealthy" ? 3 : 0, failing ? "{\"ExitCode\":1,\"Output\":\"" said "\"}" : "")
  state = sprintf("{\"Status\":\"%s\",\"Running\":%s,\"Paused\":false,\"Restarting\":%s,\"OOMKilled\":false,\"Dead\":false,\"Pid\":%d,\"ExitCode\":%d,\"Error\":\"%s\",\"StartedAt\":\"%s\",\"FinishedAt\":\"%s\"%s}", status, running, restarting, running == "true" ? 4242 : 0, code, escaped(c["error"]), started, finished, health == "" ? "" : ",\"Health\":" healthJson)
  labels = sprintf("{\"com.docker.compose.project\":\"%s\",\"com.docker.compose.service\":\"%s\",\"com.docker.compose.project.working_dir\":\"%s\",\"com.docker.compose.container-number\":\"1\",\"com.docker.compose.oneoff\":\"False\"}", c["project"], c["service"], escaped(c["directory"]))
  put(".Id", c["id"])
  put(".ID", c["id"])
  put(".Name", "/" c["name"])
  put(".Created", c["createdAt"])
  put(".Image", c["image"])
  put(".RestartCount", status == "restarting" ? 3 : 0)
  put(".Config.Image", c["asked"])
  put(".Config.Labels[com.docker.compose.project]", c["project"])
  put(".Config.Labels[com.docker.compose.service]", c["service"])
  put(".Config.Labels[com.docker.compose.container-number]", "1")
  put(".Config.Labels[com.docker.compose.project.working_dir]", c["directory"])
  put("json:.Config.Labels", labels)
  put(".HostConfig.RestartPolicy.Name", c["restart"])
  put(".State.Status", status)
  put(".State.Running", running)
  put(".State.Restarting", restarting)
  put(".State.ExitCode", code)
  put(".State.Error", c["error"])
  put(".State.StartedAt", started)
  put(".State.FinishedAt", finished)
  if (health != "") {
    put(".State.Health.Status", health)
    put("json:.State.Health", healthJson)
    put(".State.Health.Log#", failing ? 1 : 0)
    if (failing) {
      put(".State.Health.Log[0].ExitCode", 1)
      put(".State.Health.Log[0].Output", said)
    }
  }
  put("json:.State", state)
  put("json:.", sprintf("{\"Id\":\"%s\",\"Name\":\"/%s\",\"Created\":\"%s\",\"Image\":\"%s\",\"RestartCount\":%d,\"State\":%s,\"Config\":{\"Image\":\"%s\",\"Labels\":%s},\"HostConfig\":{\"RestartPolicy\":{\"Name\":\"%s\"}}}", c["id"], c["name"], c["createdAt"], c["image"], status == "restarting" ? 3 : 0, state, escaped(c["asked"]), labels, c["restart"]))
}

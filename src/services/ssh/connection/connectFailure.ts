import { errorCode } from "../../local/errorCode.ts"

/** A failure before the log-in, as ssh2 and the socket tell it. `dropped`: the server hung up before its greeting. */
export interface Failure {
  readonly reason: string
  readonly dropped: boolean
  readonly turnedDown: boolean
}

const words: Record<string, string> = {
  ECONNREFUSED: "connection refused",
  ENOTFOUND: "the host name is unknown",
  EAI_AGAIN: "the host name could not be resolved for now",
  EHOSTUNREACH: "no route to the host",
  ENETUNREACH: "the network is unreachable",
  ETIMEDOUT: "no answer",
  ECONNRESET: "the server reset the connection",
  EPIPE: "the server closed the connection",
  EACCES: "this machine does not allow the connection"
}

/** Something else than an SSH server answers there. */
export const otherwise = (protocol: string): Failure => ({
  reason: `what answers there does not speak SSH but ${protocol}: check host and port`,
  dropped: false,
  turnedDown: false
})

const levelOf = (error: Error): string => "level" in error && typeof error.level === "string" ? error.level : ""

/** True when only one authentication method failed: ssh2 continues with the next. */
export const concernsOneMethod = (error: Error) =>
  levelOf(error) === "agent" ||
  (levelOf(error) === "client-authentication" && !error.message.startsWith("All configured"))

/** Describes an error of a socket. */
export const socketReason = (error: Error): string => words[errorCode(error)] ?? (error.message || errorCode(error))

/** Describes an error of ssh2 or of the socket. `greeted`: the server has sent its identification. */
export const failureOf = (error: Error, greeted: boolean): Failure => ({
  reason: socketReason(error),
  dropped: !greeted && (errorCode(error) === "ECONNRESET" || error.message.includes("before handshake")),
  turnedDown: levelOf(error) === "client-authentication" || /authentication failures/i.test(error.message)
})

/** Silence of the server for too long. */
export const fellSilent: Failure = { reason: "it stopped answering", dropped: false, turnedDown: false }

/** The server ended the connection without a reason. */
export const hungUp: Failure = { reason: "the server closed the connection", dropped: false, turnedDown: false }

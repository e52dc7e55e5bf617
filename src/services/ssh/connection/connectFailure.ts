import { readErrorCode } from "../../local/readErrorCode.ts"

/**
 * A failure before the log-in, as reported by ssh2 or the socket. `dropped`: the server closed the connection before
 * its greeting.
 */
export interface ConnectFailure {
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

/** The port is served by another protocol than SSH. */
export const makeProtocolFailure = (protocol: string): ConnectFailure => ({
  reason: `what answers there does not speak SSH but ${protocol}: check host and port`,
  dropped: false,
  turnedDown: false
})

const levelOf = (error: Error): string => "level" in error && typeof error.level === "string" ? error.level : ""

/** True when only one authentication method failed: ssh2 continues with the next. */
export const isMethodFailure = (error: Error) =>
  levelOf(error) === "agent" ||
  (levelOf(error) === "client-authentication" && !error.message.startsWith("All configured"))

/** Describes an error of a socket. */
export const describeSocketError = (error: Error): string =>
  words[readErrorCode(error)] ?? (error.message || readErrorCode(error))

/** Describes an error of ssh2 or of the socket. `greeted`: the server has sent its identification. */
export const toConnectFailure = (error: Error, greeted: boolean): ConnectFailure => ({
  reason: describeSocketError(error),
  dropped: !greeted && (readErrorCode(error) === "ECONNRESET" || error.message.includes("before handshake")),
  turnedDown: levelOf(error) === "client-authentication" || /authentication failures/i.test(error.message)
})

/** The server has been silent for too long. */
export const fellSilent: ConnectFailure = { reason: "it stopped answering", dropped: false, turnedDown: false }

/** The server ended the connection without a reason. */
export const hungUp: ConnectFailure = { reason: "the server closed the connection", dropped: false, turnedDown: false }

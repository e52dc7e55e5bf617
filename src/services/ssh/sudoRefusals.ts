import { Option } from "effect"

/** Refusal of sudo, and its remedy. */
interface SudoRefusal {
  readonly words: string
  readonly help: string
}

const allow = "Allow it in the server's sudoers file (visudo), or log in as root"
const correct = "Correct the sudoPassword (or the password) stored for the server"
const store = "Store a sudoPassword (or password) for the server, or allow the command without one (NOPASSWD)"
const unlock = "Have an administrator of the server unlock the account"

/** True when a text contains these parts in order; a pattern with several `.*` would take quadratic time. */
const inOrder = (text: string, ...parts: ReadonlyArray<string>): boolean => {
  let from = 0
  for (const part of parts) {
    const at = text.indexOf(part, from)
    if (at < 0) return false
    from = at + part.length
  }
  return true
}
const ofSudo = (text: string, ...parts: ReadonlyArray<string>): boolean =>
  text.startsWith("sudo: ") && inOrder(text, ...parts)
const couldNotRun = (text: string, ...parts: ReadonlyArray<string>): boolean =>
  ofSudo(text, "unable to run ", ...parts) || ofSudo(text, "failed to run ", ...parts)

/** Matches this refusal in a line, as received and in lower case. */
type Fits = (line: string, lower: string) => boolean
const matching = (pattern: RegExp): Fits => (line) => pattern.test(line)

// Messages of sudo 1.9 and of sudo-rs under LC_ALL=C. The first rule that matches any line of stderr applies, so the
// rules with the most explicit messages come first. No pattern scans a line more than once.
const rules: ReadonlyArray<readonly [Fits, string]> = [
  [
    (_, lower) => couldNotRun(lower, "askpass", ": permission denied"),
    "The user's home does not allow programs (noexec): allow the command without a password (NOPASSWD)"
  ],
  [matching(/\bincorrect (?:password|authentication) attempts?\b/i), correct],
  [matching(/\b(?:is not in the sudoers file|is not allowed to (?:run|execute)|may not run )/), allow],
  [matching(/^sudo: I'm sorry .+ I'm afraid I can't do that/), allow],
  [matching(/^(?:Sorry, try again|sudo: Authentication failed)/), correct],
  [(_, lower) => couldNotRun(lower, "askpass") || lower.startsWith("sudo: no password was provided"), correct],
  [
    (_, lower) =>
      ofSudo(lower, "account validation failure") || ofSudo(lower, "account ", "expired") ||
      ofSudo(lower, "password ", "expired") || ofSudo(lower, "account ", "locked"),
    unlock
  ],
  [matching(/^sudo: (?:a password is required|interactive authentication is required)/), store],
  [
    matching(/^sudo: .*(?:a terminal is required|you must have a tty|no tty present)/),
    `${store}. Where its sudoers file has requiretty, remove that`
  ],
  [
    // sudo-rs 0.2 omits its name in this message.
    matching(/^sudo: (?:invalid option|unrecognized option|unknown option|illegal option)|^invalid option provided$/),
    "Its sudo cannot ask a program for the password (-A): install sudo 1.9, a later sudo-rs, or allow the command " +
    "without a password (NOPASSWD)"
  ],
  [
    matching(/^sudo: .*(?:must be owned by uid 0|no new privileges)/),
    "Repair sudo on the server, or lift the container's no-new-privileges"
  ],
  [matching(/\bsudo: (?:command )?not found$/), "Install sudo there, log in as root, or switch useSudo off"]
]

const lecture = { begins: "We trust you have received the usual lecture", ends: "great responsibility.\n" }
const afterLecture = /(?:\n *For security reasons[^\n]*\n)?\n*/y

/** Removes sudo's lecture for new users from stderr. */
export const stripSudoLecture = (stderr: string): string => {
  let kept = ""
  let from = 0
  while (true) {
    const begin = stderr.indexOf(lecture.begins, from)
    const end = begin < 0 ? -1 : stderr.indexOf(lecture.ends, begin)
    if (end < 0) return kept + stderr.slice(from)
    kept += stderr.slice(from, begin > from && stderr[begin - 1] === "\n" ? begin - 1 : begin)
    afterLecture.lastIndex = end + lecture.ends.length
    from = afterLecture.lastIndex + (afterLecture.exec(stderr)?.[0].length ?? 0)
  }
}

/** Number of characters read from the end of stderr; refusals are short. */
const mostRead = 64 * 1024
const longestWords = 300

/** Finds sudo's refusal in the stderr of a failed command; none when sudo did not cause the failure. */
export const findSudoRefusal = (stderr: string): Option.Option<SudoRefusal> => {
  const lines = stderr.slice(-mostRead).split("\n").flatMap((text) => {
    const line = text.trim().replace(/^sudo-rs: /, "sudo: ")
    return line === "" ? [] : [{ line, lower: line.toLowerCase() }]
  })
  return Option.firstSomeOf(
    rules.map(([fits, help]) =>
      Option.map(Option.fromNullable(lines.find(({ line, lower }) => fits(line, lower))), ({ line }) => ({
        words: line.slice(0, longestWords).replace(/^sudo: (?!(?:command )?not found)/, "").replace(/\.$/, ""),
        help
      }))
    )
  )
}

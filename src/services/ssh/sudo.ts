import { Option } from "effect"

/** What sudo said when it turned a command down, and what can be done about it. */
export interface SudoRefusal {
  readonly words: string
  readonly help: string
}

const allow = "Allow it in the server's sudoers file (visudo), or log in as root"
const correct = "Correct the sudoPassword (or the password) stored for the server"
const store = "Store a sudoPassword (or password) for the server, or allow the command without one (NOPASSWD)"
const unlock = "Have an administrator of the server unlock the account"

// The words of sudo 1.9 and of sudo-rs under LC_ALL=C. The first rule that fits any line of stderr decides, so the
// rules with the clearest words come first.
const rules: ReadonlyArray<readonly [RegExp, string]> = [
  [
    /^sudo: .*(?:unable to|failed to) run .*askpass.*: permission denied/i,
    "The user's home does not allow programs (noexec): allow the command without a password (NOPASSWD)"
  ],
  [/\bincorrect (?:password|authentication) attempts?\b/i, correct],
  [/\b(?:is not in the sudoers file|is not allowed to (?:run|execute)|may not run )/, allow],
  [/^sudo: I'm sorry .+ I'm afraid I can't do that/, allow],
  [/^(?:Sorry, try again|sudo: Authentication failed)/, correct],
  [/^sudo: (?:.*(?:unable to|failed to) run .*askpass|no password was provided)/i, correct],
  [/^sudo: .*(?:account validation failure|account .*expired|password .*expired|account .*locked)/i, unlock],
  [/^sudo: (?:a password is required|interactive authentication is required)/, store],
  [
    /^sudo: .*(?:a terminal is required|you must have a tty|no tty present)/,
    `${store}. Where its sudoers file has requiretty, remove that`
  ],
  [
    // sudo-rs 0.2 does not say who it is here.
    /^sudo: (?:invalid option|unrecognized option|unknown option|illegal option)|^invalid option provided$/,
    "Its sudo cannot ask a program for the password (-A): install sudo 1.9, a later sudo-rs, or allow the command " +
    "without a password (NOPASSWD)"
  ],
  [
    /^sudo: .*(?:must be owned by uid 0|no new privileges)/,
    "Repair sudo on the server, or lift the container's no-new-privileges"
  ],
  [/\bsudo: (?:command )?not found$/, "Install sudo there, log in as root, or switch useSudo off"]
]

const lecture =
  /\n?We trust you have received the usual lecture[^]*?great responsibility\.\n(?:\n *For security reasons[^\n]*\n)?\n*/g

/** What a command wrote to stderr, without the lecture that sudo gives its new users. */
export const withoutLecture = (stderr: string): string => stderr.replace(lecture, "")

/** Finds sudo's refusal in what a failed command wrote to stderr; nothing when sudo had no part in the failure. */
export const sudoRefusal = (stderr: string): Option.Option<SudoRefusal> => {
  const lines = stderr.split(/\r?\n/).map((line) => line.trim().replace(/^sudo-rs: /, "sudo: "))
  return Option.firstSomeOf(
    rules.map(([pattern, help]) =>
      Option.map(Option.fromNullable(lines.find((line) => pattern.test(line))), (line) => ({
        words: line.replace(/^sudo: (?!(?:command )?not found)/, "").replace(/\.$/, ""),
        help
      }))
    )
  )
}

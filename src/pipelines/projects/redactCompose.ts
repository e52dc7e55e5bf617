import { Effect, Either, Option, Predicate } from "effect"
import { isAlias, isMap, isNode, isPair, isScalar, isSeq, type Node, type Pair, type Scalar } from "yaml"
import { hostPortKey } from "../../schema/declaredFields.ts"
import { mask } from "../../schema/words.ts"
import { CurrentCaller, maySeeValues } from "../../services/access/Caller.ts"
import { mayBeCredentialName } from "../../services/masking.ts"
import { maskComments, parseYaml } from "../../services/parsing.ts"
import { scrubSecrets, type Settings } from "../../services/settings/Settings.ts"

/** True if a value only references a variable, which is defined elsewhere. */
const isReference = (text: string) => /^\$(?:\w+|\{\w+\})$/.test(text)

/** True in case of doubt for names of variables, options and labels, which also abbreviate and have dashes and dots. */
const isCredential = (name: string): boolean => {
  const last = name.slice(name.lastIndexOf(".") + 1).replaceAll("-", "_")
  return mayBeCredentialName(name) || mayBeCredentialName(last) || /(?:^|_)pw(?:_|$)|pass$/i.test(last)
}

/** Name and sign of `password=…`, `Authorization: …` and `"password":…` within a longer text. */
const assignment = /(?<![\w.-])([\w.-]+)(?:["']?[ \t]*=[ \t]*|["'][ \t]*:[ \t]*|:[ \t]+)(?=\S)/g

/** Length of a value: after a colon it may be several words; after `=` options follow, also of a driver. */
const measureValue = (text: string, start: number, sign: string): number => {
  const line = /.*/y
  const option = /"[^"]*"|'[^']*'|(?:\$\{[^}]{0,999}\}|[^\s,;&])+/y
  const pattern = sign.includes(":") ? line : option
  pattern.lastIndex = start
  return pattern.exec(text)?.[0].length ?? 0
}

const hideAssignments = (text: string): string => {
  const [, first = "", rest = ""] = /^([\w.-]+)=(.+)$/s.exec(text) ?? []
  // A label is one assignment, whatever its value contains.
  if (first !== "" && isCredential(first)) return isReference(rest) ? text : `${first}=${mask}`
  let shown = ""
  let at = 0
  for (const { 0: opening, 1: name = "", index } of text.matchAll(assignment)) {
    if (index < at || !isCredential(name)) continue
    const start = index + opening.length
    const end = start + measureValue(text, start, opening.slice(name.length))
    if (isReference(text.slice(start, end))) continue
    shown += `${text.slice(at, start)}${mask}`
    at = end
  }
  return shown + text.slice(at)
}

/** Hides the default of `${PASSWORD:-…}`, up to the last brace of the line: defaults may be nested. */
const hideDefault = (line: string): string => {
  for (const { 0: opening, 1: name = "", index } of line.matchAll(/\$\{(\w+):?[-+?]/g)) {
    if (!isCredential(name)) continue
    const start = index + opening.length
    return `${line.slice(0, start)}${mask}${line.slice(Math.max(start, line.lastIndexOf("}")))}`
  }
  return line
}

/**
 * Hides the user and the password of addresses, from the first `://` of the line to its last `@`: a password may have
 * any sign. `git` is the user of every SSH address.
 */
const hideUserInfo = (line: string): string => {
  const scheme = line.indexOf("://")
  const end = line.lastIndexOf("@")
  if (scheme < 0 || end <= scheme + 3) return line
  const user = line.slice(scheme + 3, end)
  return user === "git" || user.split(":").every(isReference)
    ? line
    : `${line.slice(0, scheme + 3)}${mask}${line.slice(end)}`
}

/** Hides the credentials that a text shows by their names or in an address. */
const hideCredentials = (text: string): string =>
  hideAssignments(text).split("\n").map((line) => hideUserInfo(hideDefault(line))).join("\n")

/** Masks every line of a text: a diff keeps its lines. */
const maskLines = (text: string) => text.replace(/\S[^\r\n]*/g, mask)

/** Masks a scalar as it is written; keeps its lines and the head of a block. */
const maskScalar = (written: string): string => {
  const [head = ""] = /^[|>][^\n]*\n/.exec(written) ?? []
  if (head !== "") return `${head}${maskLines(written.slice(head.length))}`
  return written.includes("\n") ? `"${maskLines(written)}"` : mask
}

/** Writes another value between the quotes of a scalar; masks it whole if it is not written as it reads. */
const rewriteScalar = (written: string, value: string, next: string): string => {
  if (next === value) return written
  const quote = ["", "\"", "'"].find((each) => written === `${each}${value}${each}`)
  return quote === undefined ? maskScalar(written) : `${quote}${next}${quote}`
}

/** Masks an item of values: in `KEY=value` the value alone. */
const maskItem = (written: string, value: string): string => {
  const [, key = "", rest = ""] = /^([^=]*)=(.*)$/s.exec(value) ?? []
  const isShown = rest === "" || isReference(rest) || key === hostPortKey
  return rewriteScalar(written, value, isShown ? hideCredentials(value) : `${key}=${mask}`)
}

/** Masks a command line like `maskArguments`; its first word too if that is an option or an assignment. */
const maskCommand = (written: string, value: string): string => {
  const [program = ""] = /\S+/.exec(value) ?? []
  if (!/^[\w./][\w./+-]*$/.test(program) && !isReference(program)) return maskScalar(written)
  const [opening = ""] = /^(?:[|>][^\n]*\n|["'])?\s*/.exec(written) ?? []
  const closing = /^["']/.exec(opening)?.[0] ?? ""
  const rest = written.slice(opening.length + program.length, written.length - closing.length)
  const isWritten = written.startsWith(program, opening.length) && /^(?:\s|$)/.test(rest)
  return isWritten ? `${opening}${program}${maskLines(rest)}${closing}` : maskScalar(written)
}

/**
 * Extent to which a node is masked: credentials by their names, values of variables, such an item of a list, all but the
 * first word, all.
 */
type Masking = "credentials" | "values" | "item" | "command" | "whole"

/** Sections that contain values of variables or whole files, also within `x-…` sections that other sections reuse. */
const valueSections = ["environment", "args", "content", "dockerfile_inline"]
/** Command lines, of hooks (`post_start`, `pre_stop`) and of `develop` too. */
const commandSections = ["command", "entrypoint", "test", "runtime"]

const maskingOf = (key: string): Masking =>
  valueSections.includes(key)
    ? "values"
    : commandSections.includes(key)
    ? "command"
    : key === "provider"
    ? "whole"
    : "credentials"

/** Masking of a node that several places refer to. */
const combine = (before: Masking | undefined, now: Masking): Masking =>
  before === undefined || before === "credentials" || before === now
    ? now
    : now === "credentials"
    ? before
    : "whole"

const maskAs = (masking: Masking, written: string, value: string): string => {
  switch (masking) {
    case "credentials":
      return rewriteScalar(written, value, hideCredentials(value))
    case "item":
      return maskItem(written, value)
    case "command":
      return maskCommand(written, value)
    default:
      return maskScalar(written)
  }
}

interface Edit {
  readonly from: number
  readonly to: number
  readonly text: string
}

const editsIn = (contents: unknown, text: string): ReadonlyArray<Edit> => {
  const edits = new Map<number, Edit>()
  // Several aliases may refer to one node, and a later one may ask for more.
  const maskings = new Map<Node, Masking>()
  // Anchors precede their aliases. The parser's own lookup walks the document for each alias.
  const anchors = new Map<string, Node>()
  const visitScalar = ({ range, value }: Scalar, masking: Masking): void => {
    const isShown = value === null || value === "" || Predicate.isBoolean(value) || isReference(String(value))
    if (isShown || range === undefined || range === null) return
    const [from, to] = range
    edits.set(from, { from, to, text: maskAs(masking, text.slice(from, to), String(value)) })
  }
  const visitNode = (node: unknown, asked: Masking, key: string): void => {
    if (!isNode(node)) return
    if (isAlias(node)) return visitNode(anchors.get(node.source), asked, key)
    if (node.anchor !== undefined) anchors.set(node.anchor, node)
    const wanted = isScalar(node) && isCredential(key) ? "whole" : asked
    const before = maskings.get(node)
    const masking = combine(before, isScalar(node) && key === hostPortKey ? "credentials" : wanted)
    if (masking === before) return
    maskings.set(node, masking)
    if (isMap(node)) {
      const starts = node.items.some((pair) => nameOf(pair) === "entrypoint")
      const inner = masking === "item"
        ? "values"
        : masking === "command"
        ? key === "test" ? "credentials" : "whole"
        : masking
      return node.items.forEach((pair) => visitPair(pair, inner, key, starts))
    }
    if (isSeq(node)) {
      return node.items.forEach((item, index) => {
        // Ordered maps are lists of pairs.
        if (isPair(item)) visitPair(item, masking === "command" ? "whole" : masking, key, false)
        else if (masking === "values") visitNode(item, "item", "")
        else visitNode(item, masking === "command" && index > 0 ? "whole" : masking, "")
      })
    }
    if (isScalar(node)) visitScalar(node, masking)
  }
  /** Name of a pair, whose key may be an alias or have an anchor of its own. */
  const nameOf = ({ key }: Pair): string => {
    if (isNode(key) && !isAlias(key) && key.anchor !== undefined) anchors.set(key.anchor, key)
    const node = isAlias(key) ? anchors.get(key.source) : key
    return isScalar(node) && Predicate.isString(node.value) ? node.value : ""
  }
  /** @param starts true beside an `entrypoint`, whose arguments a `command` is then */
  const visitPair = (pair: Pair, masking: Masking, parent: string, starts: boolean): void => {
    const key = nameOf(pair)
    const isWord = /^[\w.-]+$/.test(key)
    // In a set, and in a list that was meant to have a text, the key is the value.
    const isValue = masking === "whole"
      ? !isWord
      : !isNode(pair.value) || (isScalar(pair.value) && pair.value.value === null)
    visitNode(pair.key, isValue ? masking === "values" ? "item" : masking : "credentials", "")
    if (parent === "provider" && key === "type") return visitNode(pair.value, "command", "")
    if (masking !== "credentials") return visitNode(pair.value, masking, key)
    // A service may be called like a section.
    const isNamed = parent === "services" && isMap(pair.value)
    visitNode(pair.value, starts && key === "command" ? "whole" : isNamed ? "credentials" : maskingOf(key), key)
  }
  visitNode(contents, "credentials", "")
  return [...edits.values()].toSorted((a, b) => a.from - b.from)
}

/**
 * Masks a compose file for callers who may not see values of variables: these, arguments of commands, credentials by
 * their names or in addresses and comments become `***`; all other text and the lines are unchanged. None if the file
 * cannot be parsed, since its values are unknown then.
 */
export const maskComposeValues = (text: string): Option.Option<string> => {
  // A block may have a comment in its head, within the range of its scalar.
  const bare = maskComments(text)
  return Option.map(Either.getRight(parseYaml(bare)), ({ document }) => {
    let shown = ""
    let at = 0
    for (const edit of editsIn(document.contents, bare)) {
      shown += bare.slice(at, edit.from) + edit.text
      at = edit.to
    }
    return shown + bare.slice(at)
  })
}

/**
 * Compose file as the caller of the current request may read it; none if it cannot be masked. Yields first, because
 * parsing takes a while.
 */
export const redactCompose = (text: string): Effect.Effect<Option.Option<string>, never, Settings> =>
  Effect.gen(function*() {
    const { role } = yield* CurrentCaller
    if (!maySeeValues(role)) yield* Effect.yieldNow()
    return yield* Effect.transposeMapOption(
      maySeeValues(role) ? Option.some(text) : maskComposeValues(text),
      (shown) => scrubSecrets(shown)
    )
  })
